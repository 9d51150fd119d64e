import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { describe, it } from "node:test";
import { type ArtifactStore, createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { tempDir } from "../support/temp-dir.ts";

const SMALL = Buffer.from("a small page");
const LARGE = Buffer.alloc(1_000_000, "0123456789abcdef!");
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const open = (dir: string) => createArtifactStore({ dir, clock: systemClock });
const part = (key: string) => ({
  key,
  url: "http://example.com/file",
  etag: '"v1"',
  lastModified: null,
  total: LARGE.length,
});

async function put(store: ArtifactStore, bytes: Buffer, step = 50_000) {
  const writer = store.writer();
  for (let at = 0; at < bytes.length; at += step) await writer.write(bytes.subarray(at, at + step));
  return writer.finish();
}

async function read(store: ArtifactStore, hash: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of store.open(hash)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe("a stored body", () => {
  it("is found under the hash of its bytes, be it empty, small or large", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [Buffer.alloc(0), SMALL, LARGE.subarray(0, 65_536), LARGE.subarray(0, 65_537), LARGE]) {
      const stored = await put(store, bytes);
      const hash = sha256(bytes);
      assert.deepEqual(stored, { hash, size: bytes.length, path: `sha256/${hash.slice(0, 2)}/${hash}` });
      assert.ok((await read(store, hash)).equals(bytes));
      assert.equal(store.sizeOf(hash), bytes.length);
      assert.equal(await store.verify(hash), true);
    }
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("is one file, however often it is stored", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [SMALL, LARGE]) {
      const first = await put(store, bytes);
      const { ino } = statSync(`${dir.path}/${first.path}`);
      await Promise.all([put(store, bytes), put(open(dir.path), bytes), put(store, bytes, 7_000)]);
      assert.equal(statSync(`${dir.path}/${first.path}`).ino, ino);
    }
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("is made whole when a killed process left only its beginning", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [SMALL, LARGE]) {
      const { hash, path } = await put(store, bytes);
      truncateSync(`${dir.path}/${path}`, 3);
      assert.equal(await store.verify(hash), false);
      await put(store, bytes);
      assert.equal(await store.verify(hash), true);
    }
  });

  it("leaves nothing when it is given up", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [SMALL, LARGE]) {
      const writer = store.writer();
      await writer.write(bytes);
      await writer.abort(true);
      assert.equal(store.has(sha256(bytes)), false);
    }
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("cannot be named outside the folder", () => {
    using dir = tempDir();
    const store = open(dir.path);
    writeFileSync(`${dir.path}/secret`, "x");
    for (const name of [
      "../secret",
      "",
      "A".repeat(64),
      `${"a".repeat(63)}/`,
      `../../${"a".repeat(58)}`,
      "a".repeat(65),
      `${"a".repeat(64)}\n`,
    ]) {
      for (const use of [store.has, store.open, store.sizeOf])
        assert.throws(
          () => use(name),
          (error) => isOrbError(error, "input_invalid"),
        );
    }
    for (const key of ["../x", "", "a/b", "a.json", "a".repeat(101)]) {
      assert.throws(
        () => store.resumable(key),
        (error) => isOrbError(error, "input_invalid"),
      );
      assert.throws(
        () => store.dropPart(key),
        (error) => isOrbError(error, "input_invalid"),
      );
    }
    assert.throws(
      () => store.open("0".repeat(64)),
      (error) => isOrbError(error, "not_found"),
    );
    store.probe();
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("that finds the disk full says so", { skip: !existsSync("/dev/full") }, async () => {
    using dir = tempDir();
    const store = open(dir.path);
    // A link to /dev/full in the way of the next temporary file: each write to it reports a full disk.
    symlinkSync("/dev/full", `${dir.path}/tmp/part-full`);
    writeFileSync(
      `${dir.path}/tmp/part-full.json`,
      JSON.stringify({ url: "x", etag: null, lastModified: "y", total: null }),
    );
    const writer = store.writer({ part: part("full"), resume: true });
    await assert.rejects(
      async () => {
        await writer.write(LARGE);
        await writer.finish();
      },
      (error) => isOrbError(error, "disk_full"),
    );
    await writer.abort(false);
  });

  it("has old leftovers of dead processes removed, and parts left alone", () => {
    using dir = tempDir();
    mkdirSync(`${dir.path}/tmp`);
    const twoHoursAgo = systemClock.now() / 1000 - 7_200;
    for (const name of ["w-1-old", "w-1-new", "part-old", "part-old.json"])
      writeFileSync(`${dir.path}/tmp/${name}`, "x");
    for (const name of ["w-1-old", "part-old", "part-old.json"])
      utimesSync(`${dir.path}/tmp/${name}`, twoHoursAgo, twoHoursAgo);
    open(dir.path);
    assert.deepEqual(readdirSync(`${dir.path}/tmp`).toSorted(), ["part-old", "part-old.json", "w-1-new"]);
  });
});

describe("a part", () => {
  it("is gone on with after an abort that keeps it", async () => {
    using dir = tempDir();
    const first = open(dir.path).writer({ part: part("t1") });
    await first.write(LARGE.subarray(0, 300_000));
    await first.write(LARGE.subarray(300_000, 300_010));
    await first.abort(true);

    const store = open(dir.path);
    const found = store.resumable("t1");
    assert.deepEqual(found, { ...part("t1"), offset: 300_010 });
    const keys: string[] = [];
    for await (const key of store.parts()) keys.push(key);
    assert.deepEqual(keys, ["t1"]);
    const second = store.writer({ part: part("t1"), resume: true });
    assert.equal(second.size, 300_010);
    await second.write(LARGE.subarray(300_010));
    assert.equal((await second.finish()).hash, sha256(LARGE));
    assert.equal(await store.verify(sha256(LARGE)), true);
    assert.equal(store.resumable("t1"), null);
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("survives kill -9 of the process that wrote it", async () => {
    using dir = tempDir();
    const script = `
      import { createArtifactStore } from ${JSON.stringify(new URL("../../src/artifacts/store.ts", import.meta.url).href)};
      import { systemClock } from ${JSON.stringify(new URL("../../src/base/clock.ts", import.meta.url).href)};
      const writer = createArtifactStore({ dir: process.argv[1], clock: systemClock }).writer({ part: ${JSON.stringify(part("t2"))} });
      await writer.write(Buffer.alloc(1_000_000, "0123456789abcdef!").subarray(0, 200_000));
      process.kill(process.pid, "SIGKILL");
    `;
    await new Promise<void>((resolve) =>
      execFile(process.execPath, ["--input-type=module", "-e", script, dir.path], () => resolve()),
    );
    const store = open(dir.path);
    const found = store.resumable("t2")!;
    assert.equal(found.offset, 200_000);
    const writer = store.writer({ part: found, resume: true });
    await writer.write(LARGE.subarray(found.offset));
    assert.equal((await writer.finish()).hash, sha256(LARGE));
  });

  it("that does not fit its description is not used", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const path = `${dir.path}/tmp/part-t3`;
    const make = async () => {
      const writer = store.writer({ part: part("t3") });
      await writer.write(LARGE.subarray(0, 100_000));
      await writer.abort(true);
      assert.notEqual(store.resumable("t3"), null);
    };
    const spoilers = [
      () => writeFileSync(path, LARGE), // as long as the whole, or longer
      () => truncateSync(path, 0),
      () => writeFileSync(`${path}.json`, "{ broken"),
      () => writeFileSync(`${path}.json`, '{"url":1}'),
      () => store.dropPart("t3"),
    ];
    for (const spoil of spoilers) {
      await make();
      spoil();
      assert.equal(store.resumable("t3"), null);
      assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
    }
  });

  it("started anew does not mix with what an earlier writer still writes", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const frozen = store.writer({ part: part("t4") });
    await frozen.write(Buffer.alloc(200_000, "old"));
    const fresh = store.writer({ part: part("t4") });
    await fresh.write(LARGE.subarray(0, 500_000));
    await frozen.write(Buffer.alloc(600_000, "old"));
    await assert.rejects(frozen.finish(), (error) => isOrbError(error, "engine_lost"));
    await fresh.write(LARGE.subarray(500_000));
    const { hash } = await fresh.finish();
    assert.equal(await store.verify(hash), true);
    assert.equal(readFileSync(`${dir.path}/sha256/${hash.slice(0, 2)}/${hash}`).length, LARGE.length);
  });
});

describe("a file that no row names any more", () => {
  const HOUR_AGO = systemClock.now() / 1000 - 3601;
  const age = (dir: string, hash: string) =>
    utimesSync(`${dir}/sha256/${hash.slice(0, 2)}/${hash}`, HOUR_AGO, HOUR_AGO);
  const yes = async () => true;

  it("is removed when it is old, and only then", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [SMALL, LARGE]) {
      const { hash } = await put(store, bytes);
      assert.equal(await store.removeLoose(hash, yes), false);
      assert.equal(store.has(hash), true);
      age(dir.path, hash);
      assert.equal(await store.removeLoose(hash, async () => false), false);
      assert.equal(await store.verify(hash), true, "named again: it is back in its place");
      assert.equal(await store.removeLoose(hash, yes), true);
      assert.equal(store.has(hash), false);
      assert.equal(await store.removeLoose(hash, yes), true, "gone is gone");
    }
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("stays when somebody stored the same content a moment ago", async () => {
    using dir = tempDir();
    const [store, other] = [open(dir.path), open(dir.path)];
    for (const bytes of [SMALL, LARGE]) {
      const { hash } = await put(store, bytes);
      age(dir.path, hash);
      await put(other, bytes);
      assert.equal(await store.removeLoose(hash, yes), false);
      assert.equal(await store.verify(hash), true);
    }
  });

  it("is put back by the next start when whoever removes it dies, or is slow", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const { hash } = await put(store, SMALL);
    age(dir.path, hash);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<boolean>();
    const removal = store.removeLoose(hash, () => {
      asked.resolve();
      return answer.promise;
    });
    await asked.promise;
    assert.equal(store.has(hash), false, "it is aside");
    assert.deepEqual(await read(open(dir.path), hash), SMALL);
    answer.resolve(true);
    assert.equal(await removal, false, "it is there again, and has its turn another time");
    assert.deepEqual([store.has(hash), readdirSync(`${dir.path}/tmp`)], [true, []]);
  });

  it("is there for whoever stores it while it is being removed, at whichever moment", async () => {
    using dir = tempDir();
    const [store, other] = [open(dir.path), open(dir.path)];
    for (const bytes of [SMALL, LARGE]) {
      const { hash } = await put(store, bytes);
      for (let round = 0; round < 50; round += 1) {
        age(dir.path, hash);
        // The look into the books comes after the file was put aside: the other one stores it then, or all along.
        const storing = round % 2 === 0 ? put(other, bytes) : null;
        const gone = await store.removeLoose(hash, async () => {
          if (storing === null) await put(other, bytes);
          return true;
        });
        if (storing === null) assert.equal(gone, true);
        await storing;
        assert.equal(await store.verify(hash), true, `round ${round}`);
      }
    }
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });
});
