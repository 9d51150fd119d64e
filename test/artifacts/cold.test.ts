import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { describe, it } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import type { ArtifactStore } from "../../src/artifacts/port.ts";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { tempDir } from "../support/temp-dir.ts";

const TEXT = Buffer.from("All work and no play. ".repeat(20_000));
const NOISE = randomBytes(300_000);
const open = (dir: string) => createArtifactStore({ dir, clock: systemClock });

async function put(store: ArtifactStore, bytes: Buffer): Promise<string> {
  const writer = store.writer();
  await writer.write(bytes);
  return (await writer.finish()).hash;
}

async function read(store: ArtifactStore, hash: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(hash)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const hotOf = (dir: string, hash: string) => `${dir}/sha256/${hash.slice(0, 2)}/${hash}`;
const coldOf = (dir: string, hash: string) => `${dir}/cold/${hash.slice(0, 2)}/${hash}`;

describe("a file that was moved to the cold place", () => {
  it("is compressed when that pays: text is, noise stays as it is", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const [text, noise] = [await put(store, TEXT), await put(store, NOISE)];
    const packed = await store.coolDown(text);
    assert.ok(packed !== null && packed.after < TEXT.length / 100, `${packed?.after} bytes`);
    assert.deepEqual(await store.coolDown(noise), { before: NOISE.length, after: NOISE.length });
    assert.ok(readFileSync(coldOf(dir.path, noise)).equals(NOISE));
    assert.equal(store.locationOf(text), `${coldOf(dir.path, text)}.zst`);
    assert.ok(zstdDecompressSync(readFileSync(store.locationOf(text))).equals(TEXT));
  });

  it("has a path to a plain file for tools that need one, and goes back to the cold", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const [text, noise] = [await put(store, TEXT), await put(store, NOISE)];
    assert.equal(await store.pathOf(text), hotOf(dir.path, text));
    await store.coolDown(text);
    await store.coolDown(noise);
    const paths = await Promise.all([store.pathOf(text), store.pathOf(text), store.pathOf(noise)]);
    assert.ok(readFileSync(paths[0] as string).equals(TEXT));
    assert.equal(paths[2], coldOf(dir.path, noise));
    await store.coolDown(text);
    assert.equal(existsSync(hotOf(dir.path, text)), false);
    assert.ok((await read(store, text)).equals(TEXT));
  });

  it("is found damaged by those who look", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const [bytes, ending] of [
      [TEXT, ".zst"],
      [NOISE, ""],
    ] as const) {
      const hash = await put(store, bytes);
      await store.coolDown(hash);
      const path = coldOf(dir.path, hash) + ending;
      const stored = readFileSync(path);
      for (const damage of [stored.subarray(0, -9), Buffer.concat([stored.subarray(0, 40), Buffer.alloc(30)])]) {
        writeFileSync(path, damage);
        assert.equal(await store.verify(hash), false);
      }
    }
  });

  it("is stored anew beside it by who brings the same content, and removed in both places when nothing names it", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const hash = await put(store, TEXT);
    await store.coolDown(hash);
    await put(store, TEXT);
    assert.equal(await store.removeOrphaned(hash, async () => true), false, "it was stored just now");
    const old = new Date(systemClock.now() - 2 * 3_600_000);
    utimesSync(hotOf(dir.path, hash), old, old);
    assert.equal(await store.removeOrphaned(hash, async () => true), false, "it was moved to the cold just now");
    assert.ok((await read(store, hash)).equals(TEXT));
    utimesSync(`${coldOf(dir.path, hash)}.zst`, old, old);
    assert.equal(await store.removeOrphaned(hash, async () => false), false, "a row names it");
    assert.ok((await read(store, hash)).equals(TEXT));
    assert.equal(await store.removeOrphaned(hash, async () => true), true);
    assert.equal(await store.has(hash), false);
    assert.equal(existsSync(`${coldOf(dir.path, hash)}.zst`), false);
    await assert.rejects(store.open(hash), (error) => isOrbError(error, "not_found"));
    assert.equal(await store.verify(hash), false);
    assert.equal(await store.coolDown(hash), null);
    await assert.rejects(store.pathOf(hash), (error) => isOrbError(error, "not_found"));
  });

  it("stays when it is stored again and moved once more while it is about to be removed, at whichever moment", async () => {
    using dir = tempDir();
    const [store, other] = [open(dir.path), open(dir.path)];
    const old = new Date(systemClock.now() - 2 * 3_600_000);
    for (const bytes of [TEXT, NOISE]) {
      const hash = await put(store, bytes);
      await store.coolDown(hash);
      const again = async () => {
        await put(other, bytes);
        await other.coolDown(hash);
      };
      for (let round = 0; round < 12; round += 1) {
        utimesSync(store.locationOf(hash), old, old);
        const storing = round % 2 === 0 ? again() : null;
        await store.removeOrphaned(hash, async () => {
          if (storing === null) await again();
          return true;
        });
        await storing;
        assert.equal(await store.verify(hash), true, `round ${round}`);
      }
    }
    assert.deepEqual(readdirSync(`${dir.path}/cold/tmp`), []);
  });

  it("is put back by the next start when whoever removes it dies", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [TEXT, NOISE]) {
      const hash = await put(store, bytes);
      await store.coolDown(hash);
      const location = store.locationOf(hash);
      renameSync(location, `${dir.path}/cold/tmp/loose-${location.slice(location.lastIndexOf("/") + 1)}`);
      assert.equal(await store.has(hash), false, "it is aside");
      assert.ok((await read(open(dir.path), hash)).equals(bytes));
    }
  });

  it("is read whole when a kill left a short file of the same content in the usual place", async () => {
    using dir = tempDir();
    const body = Buffer.from("All work and no play. ".repeat(1000));
    const hash = await put(open(dir.path), body);
    await open(dir.path).coolDown(hash);
    for (const short of [Buffer.alloc(0), body.subarray(0, 100)]) {
      writeFileSync(hotOf(dir.path, hash), short);
      const store = open(dir.path);
      assert.equal(await store.sizeOf(hash), body.length);
      assert.ok((await read(store, hash)).equals(body));
      assert.equal(await store.verify(hash), true);
      assert.equal(store.locationOf(hash), `${coldOf(dir.path, hash)}.zst`);
      assert.ok(readFileSync(await store.pathOf(hash)).equals(body));
      writeFileSync(hotOf(dir.path, hash), short);
      await put(store, body);
      assert.ok(readFileSync(hotOf(dir.path, hash)).equals(body), "who stores it again repairs it");
      writeFileSync(hotOf(dir.path, hash), short);
      await store.coolDown(hash);
      assert.equal(await store.verify(hash), true);
    }
  });

  it("leaves no draft of a process that died", async () => {
    using dir = tempDir();
    open(dir.path);
    mkdirSync(`${dir.path}/cold/tmp`, { recursive: true });
    for (const name of ["old", "new"]) writeFileSync(`${dir.path}/cold/tmp/${name}`, "half of");
    const old = new Date(systemClock.now() - 2 * 3_600_000);
    utimesSync(`${dir.path}/cold/tmp/old`, old, old);
    open(dir.path);
    assert.deepEqual(readdirSync(`${dir.path}/cold/tmp`), ["new"]);
  });
});

describe("kill -9 while files move to the cold place", () => {
  it("leaves every one of them whole and readable, whenever it comes [slow]", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const hashes: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      const bytes = n % 2 === 0 ? Buffer.from(`${n} `.repeat(40_000)) : randomBytes(150_000);
      hashes.push(await put(store, bytes));
    }
    let kills = 0;
    for (const after of [1, 7, 13, 29]) {
      const child = fork(new URL("./cooling.ts", import.meta.url), [dir.path, ...hashes], { silent: true });
      const gone = new Promise<NodeJS.Signals | null>((resolve) =>
        child.once("exit", (_code, signal) => resolve(signal)),
      );
      let moved = 0;
      child.on("message", (hash) => {
        moved += 1;
        if (moved === after) child.kill("SIGKILL");
        if (moved < after) child.send(hash, () => {});
      });
      if ((await gone) === "SIGKILL") kills += 1;
      const next = open(dir.path);
      for (const hash of hashes) assert.equal(await next.verify(hash), true, `after ${moved} files`);
    }
    assert.equal(kills, 4);
    for (const hash of hashes) await store.coolDown(hash);
    assert.ok(hashes.every((hash) => statSync(hotOf(dir.path, hash), { throwIfNoEntry: false }) === undefined));
    for (const hash of hashes) assert.equal(await store.verify(hash), true);
  });
});
