import assert from "node:assert/strict";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gate } from "../support/gate.ts";
import { mayMount, smallDisk } from "../support/small-disk.ts";
import { assertStored, FULL, Orb, report, until } from "./orb.ts";
import { Target } from "./target.ts";

/** Takes all that is left, to the last byte. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 1024 * 1024; size >= 1;) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

const HANDLERS = "export const handlers = { file: async (_, ctx) => { await ctx.download(); } };";

const ITEMS = 400;
const PAGE_BYTES = 6000;
const pageOf = (path: string) => `${path}\n`.repeat(PAGE_BYTES).slice(0, PAGE_BYTES);

const possible = gate("full disks", mayMount(), "it needs root and the right to mount a tmpfs");

describe("a full disk", { ...possible, concurrency: 2 }, () => {
  for (const ttl of ["60", "5"]) {
    test(`pauses the work, loses nothing, and lets it go on by itself (lease of ${ttl} s)`, async () => {
      using disk = smallDisk(12);
      await using target = await Target.start(2);
      await using orb = new Orb({
        APP_DATA_DIR: disk.path,
        APP_MIN_FREE_DISK_MB: "0",
        APP_DATABASE_URL: `sqlite:${disk.path}/orb.db`,
        APP_LEASE_TTL_SECONDS: ttl,
        APP_MAX_PER_HOST: "4",
      });
      orb.env["APP_HANDLERS"] = orb.file("handlers.ts", HANDLERS);
      target.latencyMs = 10;
      // The rest comes when the disk is full: it must not be stored before.
      const full = Promise.withResolvers<void>();
      target.script = async (path) => {
        if (target.hits.length > 60) await full.promise;
        return { body: pageOf(path) };
      };
      const names = Array.from({ length: ITEMS }, (_, index) => `i${index}`);
      // Some go through a handler: it must not be blamed for the disk either.
      await orb.import(
        names.map((name, index) => ({
          artifact_id: name,
          url: target.url(`/${name}`, index % 2),
          ...(index % 3 === 0 ? { handler: "file" } : {}),
        })),
      );
      const engine = orb.start(["queue", "run", "--drain"]);
      await target.when(() => target.hits.length >= 60, "work is under way");
      const ballast = join(disk.path, "ballast");
      fill(ballast);
      full.resolve();
      await engine.said("work paused: ");
      const { bavail } = statfsSync(disk.path);

      const enqueue = await orb.run(["queue", "enqueue", "one-more", target.url("/one-more")]);
      assert.equal(enqueue.code, 1, enqueue.stdout);
      assert.match(enqueue.stderr, /^error: .*disk is full/m);
      assert.doesNotMatch(enqueue.stderr, /^ {4}at /m, "a full disk is no bug: no stack trace");
      const told = await orb.run(["queue", "enqueue", "one-more", target.url("/one-more"), "--json"]);
      assert.equal(told.code, 1);
      assert.equal((JSON.parse(told.stdout) as { error: { code: string } }).error.code, "disk_full");
      const paused = await orb.stats();
      assert.equal(paused.error, 0, "no item pays for the full disk");
      assert.equal(paused.total, ITEMS);

      // Longer than the lease, when that is short: the engine can then not even renew it.
      if (ttl === "5") await engine.said("lost the engine");
      assert.ok(engine.alive, engine.story());
      const quiet = target.hits.length;
      await until(() => target.open === 0, "nothing is in flight");
      assert.ok(target.hits.length - quiet <= 8, "no new work is started");

      rmSync(ballast);
      const freed = Date.now();
      const first = await target.next("work goes on");
      const resumed = first.start - freed;
      const { code, stderr } = await engine.end();
      assert.equal(code, 0, stderr);
      if (FULL) assert.ok(resumed < 15_000, `work went on after ${resumed} ms`);

      const items = await orb.items();
      assert.equal(items.size, ITEMS);
      for (const name of names) {
        assertStored(items.get(name), pageOf(`/${name}`), name);
        assert.deepEqual([items.get(name)?.attempts, items.get(name)?.tries], [1, 1], name);
      }
      assert.equal(
        (await orb.json<{ added: number }>("queue", "enqueue", "one-more", target.url("/one-more"))).added,
        1,
      );
      assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
      await orb.audit();
      report(`full disk, lease ${ttl} s`, { "resumed ms": resumed, refetches: target.repeats, "blocks free": bavail });
    });
  }

  test("does not keep a process from stopping properly, and the next start goes on", async () => {
    using disk = smallDisk(12);
    await using target = await Target.start(1);
    await using orb = new Orb({
      APP_DATA_DIR: disk.path,
      APP_MIN_FREE_DISK_MB: "0",
      APP_DATABASE_URL: `sqlite:${disk.path}/orb.db`,
      APP_SHUTDOWN_GRACE_SECONDS: "1",
    });
    target.latencyMs = 10;
    const full = Promise.withResolvers<void>();
    target.script = async (path) => {
      if (target.hits.length > 30) await full.promise;
      return { body: pageOf(path) };
    };
    await orb.import(
      Array.from({ length: 200 }, (_, index) => ({ artifact_id: `${index}`, url: target.url(`/${index}`) })),
    );
    const engine = orb.start(["queue", "run", "--drain"]);
    await target.when(() => target.hits.length >= 30, "work is under way");
    const ballast = join(disk.path, "ballast");
    fill(ballast);
    full.resolve();
    await engine.said("work paused: ");
    const asked = Date.now();
    engine.kill("SIGTERM");
    const { code, stderr } = await engine.end();
    const took = Date.now() - asked;
    assert.equal(code, 0, stderr);
    if (FULL) assert.ok(took < 10_000, `it took ${took} ms`);
    rmSync(ballast);
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    const items = await orb.items();
    for (let index = 0; index < 200; index += 1) {
      assertStored(items.get(`${index}`), pageOf(`/${index}`), `${index}`);
      assert.equal(items.get(`${index}`)?.attempts, 1);
    }
    await orb.audit();
    report("SIGTERM on a full disk", { "ms to the end": took });
  });

  test("stops a command that opens the database with one sentence, and hurts nothing", async () => {
    using disk = smallDisk(8);
    await using target = await Target.start(1);
    await using orb = new Orb({
      APP_DATA_DIR: disk.path,
      APP_MIN_FREE_DISK_MB: "0",
      APP_DATABASE_URL: `sqlite:${disk.path}/orb.db`,
    });
    await orb.import([{ artifact_id: "a", url: target.url("/a") }]);
    const ballast = join(disk.path, "ballast");
    fill(ballast);
    const { code, stderr } = await orb.run(["queue", "enqueue", "b", target.url("/b")]);
    assert.equal(code, 1);
    assert.match(stderr, /^error: the database cannot .*disk/);
    assert.doesNotMatch(stderr, /^ {4}at /m, "a full disk is no bug: no stack trace");
    rmSync(ballast);
    assert.equal((await orb.run(["queue", "run", "--drain"])).code, 0);
    assert.equal((await orb.stats()).done, 1);
    await orb.audit();
  });
});
