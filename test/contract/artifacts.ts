/** What every place for artifacts promises. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { ArtifactStore } from "../../src/artifacts/port.ts";
import { isOrbError } from "../../src/base/errors.ts";

export interface ArtifactHarness extends AsyncDisposable {
  store: ArtifactStore;
  /** As another worker on the same machine has it. */
  another(): ArtifactStore;
  /** Where parts and what is being written lie. */
  tmp: string;
  /** Everything of this content was stored two hours ago. */
  age(hash: string): void;
  /** Other bytes under the name of this content. */
  damage(hash: string): void;
}

const SMALL = Buffer.from("a small page");
const LARGE = Buffer.alloc(1_000_000, "0123456789abcdef!");
const NOISE = randomBytes(300_000);
const TEXT = Buffer.from("All work and no play. ".repeat(20_000));
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const part = (key: string) => ({
  key,
  url: "http://example.com/file",
  etag: '"v1"',
  lastModified: null,
  total: LARGE.length,
});
const yes = async () => true;
const no = async () => false;

export async function putBytes(store: ArtifactStore, bytes: Buffer, step = 50_000) {
  const writer = store.writer();
  for (let at = 0; at < bytes.length; at += step) await writer.write(bytes.subarray(at, at + step));
  return writer.finish();
}

export async function readBytes(store: ArtifactStore, hash: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(hash)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function artifactContract(name: string, open: () => Promise<ArtifactHarness>): void {
  const scenario = (what: string, work: (kit: ArtifactHarness) => Promise<void>) =>
    test(what, async () => {
      await using kit = await open();
      await work(kit);
    });

  describe(`${name}: a stored body`, () => {
    scenario("is found under the hash of its bytes, be it empty, small or large", async ({ store, tmp }) => {
      for (const bytes of [Buffer.alloc(0), SMALL, LARGE.subarray(0, 65_536), LARGE.subarray(0, 65_537), LARGE]) {
        const stored = await putBytes(store, bytes);
        const hash = sha256(bytes);
        assert.deepEqual(stored, { hash, size: bytes.length, path: `sha256/${hash.slice(0, 2)}/${hash}` });
        assert.ok((await readBytes(store, hash)).equals(bytes));
        assert.equal(await store.sizeOf(hash), bytes.length);
        assert.equal(await store.has(hash), true);
        assert.equal(await store.verify(hash), true);
        assert.ok(store.locationOf(hash).startsWith(store.home));
      }
      assert.deepEqual(readdirSync(tmp), []);
    });

    scenario("can be stored by two workers at once, and again", async ({ store, another, tmp }) => {
      for (const bytes of [SMALL, LARGE]) {
        const all = await Promise.all([
          putBytes(store, bytes),
          putBytes(another(), bytes),
          putBytes(store, bytes, 7_000),
        ]);
        assert.deepEqual(new Set(all.map(({ hash }) => hash)), new Set([sha256(bytes)]));
        await putBytes(another(), bytes);
        assert.equal(await store.verify(sha256(bytes)), true);
      }
      assert.deepEqual(readdirSync(tmp), []);
    });

    scenario("leaves nothing when it is given up, and is not to be seen before it is whole", async ({ store, tmp }) => {
      for (const bytes of [SMALL, LARGE]) {
        const writer = store.writer();
        await writer.write(bytes);
        assert.equal(await store.has(sha256(bytes)), false);
        await writer.abort(true);
        assert.equal(await store.has(sha256(bytes)), false);
        assert.equal(await store.sizeOf(sha256(bytes)), null);
        assert.equal(await store.verify(sha256(bytes)), false);
        await assert.rejects(store.open(sha256(bytes)), (error) => isOrbError(error, "not_found"));
      }
      assert.deepEqual(readdirSync(tmp), []);
    });

    scenario("that was altered where it lies is noticed", async ({ store, damage }) => {
      for (const bytes of [SMALL, LARGE]) {
        const { hash } = await putBytes(store, bytes);
        damage(hash);
        assert.equal(await store.verify(hash), false);
      }
    });

    scenario("has a path for tools that need one", async ({ store, another }) => {
      for (const bytes of [Buffer.alloc(0), SMALL, LARGE]) {
        const { hash } = await putBytes(store, bytes);
        const paths = await Promise.all([store.pathOf(hash), store.pathOf(hash), another().pathOf(hash)]);
        for (const path of paths) assert.ok(readFileSync(path).equals(bytes));
      }
      await assert.rejects(store.pathOf("0".repeat(64)), (error) => isOrbError(error, "not_found"));
    });

    scenario("cannot be named outside its place", async ({ store, tmp }) => {
      const refused = (error: unknown) => isOrbError(error, "input_invalid");
      for (const hash of [
        "../secret",
        "",
        "A".repeat(64),
        `../../${"a".repeat(58)}`,
        "a".repeat(65),
        `${"a".repeat(64)}\n`,
      ])
        for (const use of [store.has, store.open, store.sizeOf, store.pathOf])
          await assert.rejects(async () => use(hash), refused);
      for (const key of ["../x", "", "a/b", "a.json", "a".repeat(101)]) {
        assert.throws(() => store.resumable(key), refused);
        assert.throws(() => store.dropPart(key), refused);
      }
      await store.probe();
      assert.deepEqual(readdirSync(tmp), []);
    });

    scenario("can be left unread, or read in part", async ({ store }) => {
      const { hash } = await putBytes(store, LARGE);
      (await store.open(hash)).destroy();
      for await (const chunk of await store.open(hash)) {
        assert.ok((chunk as Buffer).length > 0);
        break;
      }
      assert.equal(await store.verify(hash), true);
    });
  });

  describe(`${name}: a part`, () => {
    scenario("is gone on with after an abort that keeps it", async ({ store, another, tmp }) => {
      const first = store.writer({ part: part("t1") });
      await first.write(LARGE.subarray(0, 300_000));
      await first.write(LARGE.subarray(300_000, 300_010));
      await first.abort(true);

      const later = another();
      assert.deepEqual(later.resumable("t1"), { ...part("t1"), offset: 300_010 });
      const keys: string[] = [];
      for await (const key of later.parts()) keys.push(key);
      assert.deepEqual(keys, ["t1"]);
      const second = later.writer({ part: part("t1"), resume: true });
      assert.equal(second.size, 300_010);
      await second.write(LARGE.subarray(300_010));
      assert.equal((await second.finish()).hash, sha256(LARGE));
      assert.equal(await later.verify(sha256(LARGE)), true);
      assert.equal(later.resumable("t1"), null);
      assert.deepEqual(readdirSync(tmp), []);
    });

    scenario("that does not fit its description is not used", async ({ store, tmp }) => {
      const path = `${tmp}/part-t3`;
      const spoilers = [
        () => writeFileSync(path, LARGE), // as long as the whole, or longer
        () => truncateSync(path, 0),
        () => writeFileSync(`${path}.json`, "{ broken"),
        () => writeFileSync(`${path}.json`, '{"url":1}'),
        () => store.dropPart("t3"),
      ];
      for (const spoil of spoilers) {
        const writer = store.writer({ part: part("t3") });
        await writer.write(LARGE.subarray(0, 100_000));
        await writer.abort(true);
        assert.notEqual(store.resumable("t3"), null);
        spoil();
        assert.equal(store.resumable("t3"), null);
        assert.deepEqual(readdirSync(tmp), []);
      }
    });

    scenario("started anew does not mix with what an earlier writer still writes", async ({ store }) => {
      const frozen = store.writer({ part: part("t4") });
      await frozen.write(Buffer.alloc(200_000, "old"));
      const fresh = store.writer({ part: part("t4") });
      await fresh.write(LARGE.subarray(0, 500_000));
      await frozen.write(Buffer.alloc(600_000, "old"));
      await assert.rejects(frozen.finish(), (error) => isOrbError(error, "engine_lost"));
      await fresh.write(LARGE.subarray(500_000));
      const { hash } = await fresh.finish();
      assert.equal(await store.verify(hash), true);
      assert.equal(await store.sizeOf(hash), LARGE.length);
    });
  });

  describe(`${name}: a file that no row names any more`, () => {
    /** It may go in several steps, with an hour between them. */
    const removed = async ({ store, age }: ArtifactHarness, hash: string) => {
      for (let sweeps = 1; ; sweeps += 1) {
        age(hash);
        if (await store.removeOrphaned(hash, yes)) return;
        assert.ok(sweeps < 3, "it goes sooner or later");
        assert.equal(await store.verify(hash), true, "as long as it is not gone it can be read");
      }
    };

    scenario("is removed when it is old, and only then", async (kit) => {
      const { store, age, tmp } = kit;
      for (const bytes of [SMALL, LARGE]) {
        const { hash } = await putBytes(store, bytes);
        assert.equal(await store.removeOrphaned(hash, yes), false);
        assert.equal(await store.has(hash), true);
        age(hash);
        assert.equal(await store.removeOrphaned(hash, no), false);
        assert.equal(await store.verify(hash), true, "named again: it stays");
        await removed(kit, hash);
        assert.equal(await store.has(hash), false);
        assert.equal(await store.removeOrphaned(hash, yes), true, "gone is gone");
      }
      assert.deepEqual(readdirSync(tmp), []);
    });

    scenario("stays when somebody stored the same content a moment ago", async ({ store, another, age }) => {
      for (const bytes of [SMALL, LARGE]) {
        const { hash } = await putBytes(store, bytes);
        age(hash);
        await putBytes(another(), bytes);
        assert.equal(await store.removeOrphaned(hash, yes), false);
        assert.equal(await store.verify(hash), true);
      }
    });

    scenario("is there for whoever stores it while it is being removed", async ({ store, another, age }) => {
      for (const bytes of [SMALL, LARGE]) {
        const { hash } = await putBytes(store, bytes);
        for (let sweeps = 0; sweeps < 3; sweeps += 1) {
          age(hash);
          await store.removeOrphaned(hash, async () => {
            await putBytes(another(), bytes);
            return true;
          });
          assert.equal(await store.verify(hash), true, `sweep ${sweeps}`);
        }
        // Its row is written by now, whatever the sweeps have moved it to.
        age(hash);
        assert.equal(await store.removeOrphaned(hash, no), false);
        age(hash);
        assert.equal(await store.removeOrphaned(hash, no), false);
        assert.ok((await readBytes(store, hash)).equals(bytes));
      }
    });

    scenario("goes from the cold place, too", async (kit) => {
      const { store } = kit;
      for (const bytes of [TEXT, NOISE]) {
        const { hash } = await putBytes(store, bytes);
        await store.coolDown(hash);
        assert.equal(await store.removeOrphaned(hash, yes), false, "it was moved to the cold just now");
        await removed(kit, hash);
        assert.equal(await store.has(hash), false);
        assert.equal(await store.coolDown(hash), null);
      }
    });
  });

  describe(`${name}: a file that was moved to the cold place`, () => {
    scenario(
      "is read, measured and verified as before, be it packed or not [slow]",
      async ({ store, another, tmp }) => {
        for (const bytes of [
          TEXT,
          NOISE,
          Buffer.alloc(0),
          Buffer.from("short"),
          Buffer.alloc(100, "a"),
          Buffer.alloc(700),
        ]) {
          const { hash } = await putBytes(store, bytes);
          const moved = await store.coolDown(hash);
          assert.equal(moved?.before, bytes.length);
          assert.ok(bytes !== TEXT || moved.after < TEXT.length / 100, `${moved.after} bytes`);
          assert.ok(bytes !== NOISE || moved.after === NOISE.length);
          for (const reader of [store, another()]) {
            assert.equal(await reader.has(hash), true);
            assert.equal(await reader.sizeOf(hash), bytes.length);
            assert.ok((await readBytes(reader, hash)).equals(bytes));
            assert.equal(await reader.verify(hash), true);
            assert.ok(readFileSync(await reader.pathOf(hash)).equals(bytes));
          }
          await store.coolDown(hash);
          assert.deepEqual(await store.coolDown(hash), moved, "a second time changes nothing");
          await putBytes(another(), bytes);
          assert.deepEqual(await store.coolDown(hash), moved, "nor does storing it again");
          assert.ok((await readBytes(store, hash)).equals(bytes));
        }
        assert.deepEqual(readdirSync(tmp), []);
      },
    );

    scenario("is noticed when it was altered there", async ({ store, damage }) => {
      for (const bytes of [TEXT, NOISE]) {
        const { hash } = await putBytes(store, bytes);
        await store.coolDown(hash);
        damage(hash);
        assert.equal(await store.verify(hash), false);
      }
    });
  });
}
