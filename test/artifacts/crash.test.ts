/** Files of artifacts after a kill between any two system calls. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import type { ArtifactStore } from "../../src/artifacts/port.ts";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { forEachAsyncKill } from "../support/crash-at-async-call.ts";
import { tempDir } from "../support/temp-dir.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const PIECE = 100_000;
const open = (dir: string) => createArtifactStore({ dir, clock: systemClock });
/** A process of the next day: drafts of dead processes are nobody's by then. */
const openNextDay = (dir: string) =>
  createArtifactStore({ dir, clock: { ...systemClock, now: () => systemClock.now() + DAY_MS } });
const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const noise = (round: number) => Buffer.concat([Buffer.from(`${round}\n`), randomBytes(5 * PIECE)]);
const text = (round: number) => Buffer.from(`All work and no play, round ${round}. `.repeat(12_000));

async function put(store: ArtifactStore, bytes: Buffer): Promise<string> {
  const writer = store.writer();
  for (let at = 0; at < bytes.length; at += PIECE) await writer.write(bytes.subarray(at, at + PIECE));
  return (await writer.finish()).hash;
}

async function read(store: ArtifactStore, hash: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(hash)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function leftIn(dir: string): string[] {
  return [`${dir}/tmp`, `${dir}/cold/tmp`].flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []));
}

test("a kill while a large artifact is stored leaves it whole or not there, and storing it again succeeds", async () => {
  using dir = tempDir();
  const bytes = new Map<number, Buffer>();
  const rounds = await forEachAsyncKill(
    async (round) => {
      bytes.set(round, noise(round));
      await put(open(dir.path), bytes.get(round)!);
    },
    async (round) => {
      const body = bytes.get(round) ?? noise(round);
      const store = open(dir.path);
      if (await store.has(hashOf(body))) assert.ok(await store.verify(hashOf(body)), `killed at call ${round}`);
      assert.equal(await put(store, body), hashOf(body));
      assert.ok((await read(openNextDay(dir.path), hashOf(body))).equals(body));
      assert.deepEqual(leftIn(dir.path), []);
    },
  );
  assert.ok(rounds >= 8, `there were ${rounds} calls`);
});

test("a kill during a download that can be resumed leaves a beginning that the next attempt completes", async () => {
  using dir = tempDir();
  const body = noise(0);
  const key = (round: number) => `task-${round}`;
  const partOf = (round: number) => ({
    key: key(round),
    url: "http://files.example/a",
    etag: '"1"',
    lastModified: null,
    total: body.length,
  });
  let resumed = 0;
  const rounds = await forEachAsyncKill(
    async (round) => {
      const writer = open(dir.path).writer({ part: partOf(round) });
      for (let at = 0; at < body.length; at += PIECE) await writer.write(body.subarray(at, at + PIECE));
      await writer.finish();
    },
    async (round) => {
      const store = open(dir.path);
      const there = store.resumable(key(round));
      if (there !== null) resumed += 1;
      const writer = store.writer({ part: partOf(round), resume: there !== null });
      await writer.write(body.subarray(there?.offset ?? 0));
      assert.equal((await writer.finish()).hash, hashOf(body), `killed at call ${round}`);
      assert.ok(await store.verify(hashOf(body)));
      openNextDay(dir.path);
      assert.deepEqual(leftIn(dir.path), []);
    },
  );
  assert.ok(rounds >= 12, `there were ${rounds} calls`);
  assert.ok(resumed >= 2, `${resumed} attempts were resumed`);
});

for (const [kind, make] of Object.entries({ text, noise })) {
  test(`a kill while ${kind} moves to the cold place, or comes back, loses nothing, and the next attempt ends it`, async () => {
    using dir = tempDir();
    const bytes = new Map<number, Buffer>();
    const stored = async (round: number) => {
      const body = make(round);
      bytes.set(round, body);
      return put(open(dir.path), body);
    };
    let hash = await stored(0);
    const rounds = await forEachAsyncKill(
      async () => {
        const store = open(dir.path);
        await store.coolDown(hash);
        await store.pathOf(hash);
      },
      async (round) => {
        const body = bytes.get(round)!;
        assert.ok((await read(open(dir.path), hash)).equals(body), `killed at call ${round}`);
        const store = openNextDay(dir.path);
        assert.equal((await store.coolDown(hash))?.before, body.length);
        assert.ok((await read(store, hash)).equals(body));
        assert.ok(!existsSync(`${dir.path}/sha256/${hash.slice(0, 2)}/${hash}`), "it is also in its usual place");
        assert.deepEqual(leftIn(dir.path), []);
        hash = await stored(round + 1);
      },
    );
    assert.ok(rounds >= 8, `there were ${rounds} calls`);
  });
}

test("a kill while a file is removed that nothing refers to leaves it whole or gone", async () => {
  using dir = tempDir();
  const body = noise(0);
  const hash = hashOf(body);
  await put(open(dir.path), body);
  let remained = 0;
  const rounds = await forEachAsyncKill(
    async () => void (await openNextDay(dir.path).removeOrphaned(hash, async () => true)),
    async (round) => {
      const store = open(dir.path);
      if (await store.has(hash)) {
        remained += 1;
        assert.ok(await store.verify(hash), `killed at call ${round}`);
      } else await put(store, body);
      assert.deepEqual(leftIn(dir.path), []);
    },
  );
  assert.ok(rounds >= 4, `there were ${rounds} calls`);
  assert.ok(remained >= 2);
});
