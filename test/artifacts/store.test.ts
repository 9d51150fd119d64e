import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { describe, it } from "node:test";
import { artifactPath, Folder } from "../../src/artifacts/layout.ts";
import { writeSidecar } from "../../src/artifacts/part.ts";
import { FolderSink } from "../../src/artifacts/sink.ts";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { artifactContract, putBytes, readBytes } from "../contract/artifacts.ts";
import { killedAtCall } from "../support/crash-at-call.ts";
import { tempDir } from "../support/temp-dir.ts";

const SMALL = Buffer.from("a small page");
const LARGE = Buffer.alloc(1_000_000, "0123456789abcdef!");
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const open = (dir: string) => createArtifactStore({ dir, clock: systemClock });
const LONG_AGO = systemClock.now() / 1000 - 7200;
const part = (key: string) => ({
  key,
  url: "http://example.com/file",
  etag: '"v1"',
  lastModified: null,
  total: LARGE.length,
});

const hotOf = (dir: string, hash: string) => `${dir}/sha256/${hash.slice(0, 2)}/${hash}`;
const coldOf = (dir: string, hash: string) => `${dir}/cold/${hash.slice(0, 2)}/${hash}`;

artifactContract("a folder", async () => {
  const dir = tempDir();
  const pathsOf = (hash: string) =>
    [hotOf(dir.path, hash), coldOf(dir.path, hash), `${coldOf(dir.path, hash)}.zst`].filter((path) => existsSync(path));
  return {
    store: open(dir.path),
    another: () => open(dir.path),
    tmp: `${dir.path}/tmp`,
    age: (hash) => {
      for (const path of pathsOf(hash)) utimesSync(path, LONG_AGO, LONG_AGO);
    },
    damage: (hash) => {
      for (const path of pathsOf(hash)) writeFileSync(path, "something else");
    },
    async [Symbol.asyncDispose]() {
      dir[Symbol.dispose]();
    },
  };
});

describe("a stored body", () => {
  it("gives each draft a name of its own, also where two stores are opened at the same moment", () => {
    using dir = tempDir();
    const clock = { ...systemClock, now: () => 1_900_000_000_000 };
    const [one, other] = [new Folder(dir.path, clock), new Folder(dir.path, clock)];
    assert.notEqual(one.temporary(), other.temporary());
  });

  it("is one file, however often it is stored", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [SMALL, LARGE]) {
      const first = await putBytes(store, bytes);
      const { ino } = statSync(`${dir.path}/${first.path}`);
      await Promise.all([putBytes(store, bytes), putBytes(open(dir.path), bytes), putBytes(store, bytes, 7_000)]);
      assert.equal(statSync(`${dir.path}/${first.path}`).ino, ino);
    }
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  it("is made whole when a killed process left only its beginning", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    for (const bytes of [SMALL, LARGE]) {
      const { hash, path } = await putBytes(store, bytes);
      truncateSync(`${dir.path}/${path}`, 3);
      assert.equal(await store.verify(hash), false);
      await putBytes(store, bytes);
      assert.equal(await store.verify(hash), true);
    }
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
});

describe("a file that no row names any more", () => {
  const HOUR_AGO = systemClock.now() / 1000 - 3601;
  const age = (dir: string, hash: string) =>
    utimesSync(`${dir}/sha256/${hash.slice(0, 2)}/${hash}`, HOUR_AGO, HOUR_AGO);

  it("is put back by the next start when whoever removes it dies, or is slow", async () => {
    using dir = tempDir();
    const store = open(dir.path);
    const { hash } = await putBytes(store, SMALL);
    age(dir.path, hash);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<boolean>();
    const removal = store.removeOrphaned(hash, () => {
      asked.resolve();
      return answer.promise;
    });
    await asked.promise;
    assert.equal(await store.has(hash), false, "it is aside");
    assert.deepEqual(await readBytes(open(dir.path), hash), SMALL);
    answer.resolve(true);
    assert.equal(await removal, false, "it is there again, and has its turn another time");
    assert.deepEqual([await store.has(hash), readdirSync(`${dir.path}/tmp`)], [true, []]);
  });

  it("is there for whoever stores it while it is being removed, at whichever moment [slow]", async () => {
    using dir = tempDir();
    const [store, other] = [open(dir.path), open(dir.path)];
    for (const bytes of [SMALL, LARGE]) {
      const { hash } = await putBytes(store, bytes);
      for (let round = 0; round < 50; round += 1) {
        age(dir.path, hash);
        // The look into the books comes after the file was put aside: the other one stores it then, or all along.
        const storing = round % 2 === 0 ? putBytes(other, bytes) : null;
        const gone = await store.removeOrphaned(hash, async () => {
          if (storing === null) await putBytes(other, bytes);
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

describe("a kill between any two system calls", () => {
  it("leaves a small body that can be stored again and is whole then", async () => {
    using dir = tempDir();
    const hash = sha256(SMALL);
    const folderOf = (round: number) => `${dir.path}/${round}`;
    for (let round = 0, killed = true; killed; round += 1) {
      open(folderOf(round));
      const sink = new FolderSink(new Folder(folderOf(round), systemClock));
      killed = killedAtCall(round, () => sink.keepSmall(artifactPath(hash), SMALL));
      const store = open(folderOf(round));
      await putBytes(store, SMALL);
      assert.deepEqual(await readBytes(store, hash), SMALL, `killed at call ${round}`);
      assert.ok(await store.verify(hash));
    }
  });

  it("leaves the description of a partial download whole or not there", () => {
    using dir = tempDir();
    open(dir.path);
    for (let round = 0, killed = true; killed; round += 1) {
      const described = part(`task-${round}`);
      const folder = new Folder(dir.path, systemClock);
      killed = killedAtCall(round, () => writeSidecar(folder, described));
      writeFileSync(folder.part(described.key), "some bytes");
      const found = open(dir.path).resumable(described.key);
      assert.ok(found === null || found.etag === described.etag, `killed at call ${round}`);
      assert.ok(killed || found !== null);
    }
  });
});
