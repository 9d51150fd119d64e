import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, cpSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import sharp from "sharp";
import { type Clock, systemClock, type Timer } from "../../src/base/clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import { createImageInspector, type ImageInspector, type ImageInspectorOptions } from "../../src/images/inspector.ts";
import { makeImageSet, pngBomb } from "../support/images.ts";
import { encoder, photo, plain } from "../support/pictures.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

function open(options: Partial<ImageInspectorOptions> = {}): ImageInspector & AsyncDisposable {
  const inspector = createImageInspector({ clock: systemClock, processes: 2, ...options });
  return {
    inspect: (...args) => inspector.inspect(...args),
    close: () => inspector.close(),
    [Symbol.asyncDispose]: () => inspector.close(),
  };
}

/** A file whose bytes never come: whoever reads it waits. */
function endlessFile(dir: string, name: string): string {
  const path = join(dir, name);
  execFileSync("mkfifo", [path]);
  return path;
}

/** Waits until somebody has begun to read it, and keeps the reader waiting. */
async function hasReader(path: string): Promise<Disposable> {
  for (;;) {
    try {
      const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return { [Symbol.dispose]: () => closeSync(writer) };
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENXIO");
      await soon();
    }
  }
}

const at = (file: string) => pathToFileURL(join(root, file)).href;
const soon = () => new Promise((resolve) => setTimeout(resolve, 2));

/** Processes that decode images, started by this one or another. */
function inspectors(starter = process.pid): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const about = read(`/proc/${pid}/stat`);
      const [, parent] = about.slice(about.lastIndexOf(")") + 2).split(" ");
      return Number(parent) === starter && read(`/proc/${pid}/cmdline`).includes("images/process.ts");
    });
}

/** Also while it is ending. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Empty when it has ended in the meantime. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Lets time pass only when told. */
class WatchClock implements Clock {
  readonly #timers = new Set<{ ms: number; fire: () => void }>();
  #changed: (() => void) | null = null;

  now = () => systemClock.now();
  monotonic = () => systemClock.monotonic();

  after(ms: number, fire: () => void): Timer {
    const timer = { ms, fire };
    this.#timers.add(timer);
    this.#changed?.();
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** The timer of a file that is being decoded. */
  async watched(ms: number): Promise<() => void> {
    for (;;) {
      const timer = [...this.#timers].find((candidate) => candidate.ms === ms);
      if (timer !== undefined) return timer.fire;
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }
}

const TIMEOUT_MS = 12_345;
const random = seededRandom(5);
const goodPicture = async () =>
  encoder(await photo(random, 120, 90))
    .jpeg()
    .toBuffer();

describe("looking at image files", () => {
  it("tells of a whole set what each file is [slow]", async () => {
    using dir = tempDir();
    await using inspector = open();
    const { files } = await makeImageSet({ count: 100, seed: 3 });
    const paths = files.map(({ name, bytes }) => {
      writeFileSync(join(dir.path, name), bytes);
      return join(dir.path, name);
    });
    const facts = await inspector.inspect(paths);
    assert.equal(facts.length, files.length);
    for (const [at, { name, bytes, expected }] of files.entries()) {
      const fact = facts[at];
      assert.ok(fact !== undefined);
      assert.equal(fact.bytes, bytes.length, name);
      const seen = fact.problem ?? (fact.animated ? "animated" : fact.blank ? "blank" : null);
      if (expected.reason?.endsWith("too_small") === true) assert.ok(Math.min(fact.width ?? 0, fact.height ?? 0) < 64);
      else assert.equal(seen, expected.reason, `${name}: ${fact.detail}`);
      assert.equal(fact.hash === null, fact.problem !== null || fact.blank, name);
    }
    assert.equal(facts[files.findIndex(({ name }) => name.startsWith("misnamed"))]?.format, "webp");
  });

  it("knows every format by its content, turns what a camera noted, and counts pictures", async () => {
    using dir = tempDir();
    await using inspector = open();
    const picture = await photo(random, 120, 90);
    const frames = [await goodPicture(), await goodPicture()];
    const created: Record<string, Buffer> = {
      jpeg: await encoder(picture).jpeg().toBuffer(),
      progressive: await encoder(picture).jpeg({ progressive: true }).toBuffer(),
      cmyk: await encoder(picture).toColourspace("cmyk").jpeg().toBuffer(),
      turned: await encoder(picture).withMetadata({ orientation: 8 }).jpeg().toBuffer(),
      png: await encoder(picture).png().toBuffer(),
      deep: await encoder(picture).toColourspace("rgb16").png().toBuffer(),
      gif: await encoder(picture).gif().toBuffer(),
      webp: await encoder(picture).webp().toBuffer(),
      avif: await encoder(picture).avif({ effort: 0 }).toBuffer(),
      tiff: await encoder(picture).tiff().toBuffer(),
      moving: await sharp(frames, { join: { animated: true } })
        .gif()
        .toBuffer(),
    };
    const facts = await inspector.inspect(
      Object.entries(created).map(([name, bytes]) => {
        writeFileSync(join(dir.path, name), bytes);
        return join(dir.path, name);
      }),
    );
    const shown = Object.keys(created).map((name, at) => {
      const { format, width, height, pages, animated, problem } = facts[at] ?? {};
      return [name, format, `${width}×${height}`, pages, animated, problem];
    });
    assert.deepEqual(shown, [
      ["jpeg", "jpeg", "120×90", 1, false, null],
      ["progressive", "jpeg", "120×90", 1, false, null],
      ["cmyk", "jpeg", "120×90", 1, false, null],
      ["turned", "jpeg", "90×120", 1, false, null],
      ["png", "png", "120×90", 1, false, null],
      ["deep", "png", "120×90", 1, false, null],
      ["gif", "gif", "120×90", 1, false, null],
      ["webp", "webp", "120×90", 1, false, null],
      ["avif", "avif", "120×90", 1, false, null],
      ["tiff", "tiff", "120×90", 1, false, null],
      ["moving", "gif", "120×90", 2, true, null],
    ]);
  });

  it("notices what is cut off anywhere, and is not troubled by what is added behind [slow]", async () => {
    using dir = tempDir();
    await using inspector = open();
    const picture = await photo(random, 120, 90);
    const frames = [await goodPicture(), await goodPicture(), await goodPicture()];
    const whole: Record<string, Buffer> = {
      jpeg: await encoder(picture).jpeg().toBuffer(),
      progressive: await encoder(picture).jpeg({ progressive: true }).toBuffer(),
      png: await encoder(picture).png().toBuffer(),
      interlaced: await encoder(picture).png({ progressive: true }).toBuffer(),
      gif: await encoder(picture).gif().toBuffer(),
      webp: await encoder(picture).webp().toBuffer(),
      avif: await encoder(picture).avif({ effort: 0 }).toBuffer(),
      movingGif: await sharp(frames, { join: { animated: true } })
        .gif()
        .toBuffer(),
      movingWebp: await sharp(frames, { join: { animated: true } })
        .webp()
        .toBuffer(),
    };
    const check = async (change: (bytes: Buffer) => Buffer) => {
      const paths = Object.entries(whole).map(([name, bytes]) => {
        writeFileSync(join(dir.path, name), change(bytes));
        return join(dir.path, name);
      });
      return new Set((await inspector.inspect(paths)).map(({ problem }) => problem));
    };
    for (const share of [0.3, 0.6, 0.9])
      assert.deepEqual(await check((bytes) => bytes.subarray(0, bytes.length * share)), new Set(["truncated"]));
    assert.deepEqual(await check((bytes) => bytes.subarray(0, -20)), new Set(["truncated"]));
    assert.deepEqual(await check((bytes) => Buffer.concat([bytes, Buffer.alloc(300, 1)])), new Set([null]));
  });

  it("says of what it does not decode what it is, and of damage that it could read past it", async () => {
    using dir = tempDir();
    await using inspector = open();
    const jpeg = await goodPicture();
    const middle = Math.floor(jpeg.length / 2);
    const damaged = Buffer.concat([jpeg.subarray(0, middle), jpeg.subarray(-2)]);
    const progressive = await encoder(await photo(random, 120, 90))
      .jpeg({ progressive: true })
      .toBuffer();
    const untidy = Buffer.concat([progressive.subarray(0, -2), Buffer.alloc(50, 1), progressive.subarray(-2)]);
    const png = await encoder(await photo(random, 64, 64))
      .png()
      .toBuffer();
    png.fill(0x55, 1000, 1040);
    const clear = await sharp({ create: { width: 80, height: 80, channels: 4, background: "#f000" } })
      .png()
      .toBuffer();
    const created: Record<string, Buffer> = {
      svg: Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      text: Buffer.from("no picture at all"),
      empty: Buffer.alloc(0),
      bomb: pngBomb(50_000, 50_000),
      damaged,
      untidy,
      broken: png,
      clear,
      white: await encoder(plain(90, 90, [255, 255, 255]))
        .png()
        .toBuffer(),
    };
    const facts = await inspector.inspect([
      ...Object.entries(created).map(([name, bytes]) => {
        writeFileSync(join(dir.path, name), bytes);
        return join(dir.path, name);
      }),
      join(dir.path, "nothing-here"),
    ]);
    assert.deepEqual(
      facts.map(({ format, problem, damaged, blank }) => [format, problem, damaged, blank]),
      [
        ["svg+xml", "unsupported_format", false, false],
        [null, "not_an_image", false, false],
        [null, "not_an_image", false, false],
        ["png", "too_many_pixels", false, false],
        ["jpeg", null, true, false],
        ["jpeg", null, false, false],
        ["png", "undecodable", false, false],
        ["png", null, false, true],
        ["png", null, false, true],
        [null, "missing", false, false],
      ],
    );
    assert.match(facts[4]?.detail ?? "", /premature end of data segment/);
    assert.match(facts[5]?.detail ?? "", /extraneous bytes/);
  });

  it("goes on when a decoder dies: the file that killed two of them is to blame, the others are unharmed", async () => {
    using dir = tempDir();
    await using inspector = open({ processes: 1 });
    const good = join(dir.path, "good.jpg");
    writeFileSync(good, await goodPicture());
    const path = endlessFile(dir.path, "deadly");
    const deadly = inspector.inspect([good, path, good]);
    for (const _ of ["the first", "another"]) {
      using _reader = await hasReader(path);
      const [pid] = inspectors();
      assert.ok(pid !== undefined);
      process.kill(pid, "SIGSEGV");
      while (isThere(pid)) await soon();
    }
    const facts = await deadly;
    assert.deepEqual(
      facts.map(({ problem }) => problem),
      [null, "crashed", null],
    );
    assert.match(facts[1]?.detail ?? "", /SIGSEGV/);
  });

  it("lets those who ask at the same time take turns: a few files do not wait for many", async () => {
    using dir = tempDir();
    await using inspector = open({ processes: 1 });
    const good = join(dir.path, "good.jpg");
    writeFileSync(good, await goodPicture());
    const path = endlessFile(dir.path, "endless");
    const stop = new AbortController();
    const many = inspector.inspect([...Array<string>(3).fill(good), path, good], stop.signal);
    const few = await inspector.inspect([good, good]);
    assert.deepEqual(
      few.map(({ problem }) => problem),
      [null, null],
    );
    stop.abort(new Error("enough"));
    await assert.rejects(many, /enough/);
  });

  it("gives up on a file that takes too long, and on one that needs too much memory [slow]", async () => {
    using dir = tempDir();
    const clock = new WatchClock();
    await using inspector = open({ clock, processes: 1, timeoutMs: TIMEOUT_MS });
    const good = join(dir.path, "good.jpg");
    writeFileSync(good, await goodPicture());
    const path = endlessFile(dir.path, "slow");
    const slow = inspector.inspect([path, good]);
    using _reader = await hasReader(path);
    (await clock.watched(TIMEOUT_MS))();
    assert.deepEqual(
      (await slow).map(({ problem }) => problem),
      ["timeout", null],
    );

    await using small = open({ processes: 1, memoryMb: 150 });
    const large = join(dir.path, "large.png");
    const empty = sharp({ create: { width: 6000, height: 6000, channels: 3, background: "#123" } });
    writeFileSync(large, await empty.png({ progressive: true, compressionLevel: 1 }).toBuffer());
    const [heavy, light] = await small.inspect([large, good]);
    assert.equal(heavy?.problem, "out_of_memory");
    assert.equal(light?.problem, null);
  });

  it("stops at once when it is not wanted any more, and leaves no process behind", async () => {
    using dir = tempDir();
    const inspector = open();
    assert.deepEqual(inspectors(), [], "nothing runs before there is something to do");
    const stop = new AbortController();
    const [path, other] = [endlessFile(dir.path, "endless"), endlessFile(dir.path, "other")];
    const waiting = inspector.inspect([path, other, path], stop.signal);
    using _reader = await hasReader(path);
    using _otherReader = await hasReader(other);
    stop.abort(new Error("not wanted"));
    await assert.rejects(waiting, /not wanted/);
    await assert.rejects(inspector.inspect([path], stop.signal), /not wanted/);

    const cutShort = inspector.inspect([path]);
    const closed = inspector.close();
    await assert.rejects(cutShort, /stopping/);
    await closed;
    assert.deepEqual(inspectors(), []);
    await assert.rejects(inspector.inspect([path]), /stopping/);
  });

  it("leaves no process behind when the program itself is killed", async () => {
    using dir = tempDir();
    const path = endlessFile(dir.path, "endless");
    const code = `
      const { createImageInspector } = await import(${JSON.stringify(at("src/images/inspector.ts"))});
      const { systemClock } = await import(${JSON.stringify(at("src/base/clock.ts"))});
      await createImageInspector({ clock: systemClock }).inspect([${JSON.stringify(path)}]);`;
    const program = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
    const ended = once(program, "exit");
    using _reader = await hasReader(path);
    const [pid] = inspectors(program.pid);
    assert.ok(pid !== undefined);
    program.kill("SIGKILL");
    await ended;
    while (isThere(pid)) await soon();
  });

  it("says so when the library for it is not there", async () => {
    using dir = tempDir();
    for (const room of ["base", "domain", "images"])
      cpSync(join(root, "src", room), join(dir.path, "src", room), { recursive: true });
    writeFileSync(join(dir.path, "package.json"), '{"type": "module"}');
    const copy = (await import(pathToFileURL(join(dir.path, "src/images/inspector.ts")).href)) as {
      createImageInspector: typeof createImageInspector;
    };
    const inspector = copy.createImageInspector({ clock: systemClock });
    try {
      await assert.rejects(
        inspector.inspect(["a", "b"]),
        (error) => (error as { code?: string }).code === "image_decoder_missing" && /sharp/.test(String(error)),
      );
    } finally {
      await inspector.close();
    }
    assert.deepEqual(inspectors(), []);
  });
});
