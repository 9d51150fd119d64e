import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate, schemaVersion } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { DONE, Kit, newTask, refused } from "../contract/store/kit.ts";
import { Child, FULL, sqliteHarness, tempFolder } from "./bench.ts";
import { fixtureMigrations, ROWS, STEPS } from "./children/fixture-migrations.ts";

/** The schema is that of exactly one version, and the program starts from it. */
function expectStarts(path: string): number {
  const connection = new SqliteConnection(path);
  try {
    const version = schemaVersion(connection);
    const tables = connection.db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    assert.deepEqual(
      tables.map((row) => row["name"]),
      Array.from({ length: version }, (_, index) => `t${index + 1}`),
    );
    for (let step = 1; step <= version; step += 1) {
      const row = connection.db.prepare(`SELECT count(*) AS n, count(DISTINCT text) AS texts FROM t${step}`).get();
      assert.deepEqual([row?.["n"], row?.["texts"]], [ROWS, step < version ? 1 : ROWS]);
    }
    assert.equal(connection.db.prepare("PRAGMA integrity_check").get()?.["integrity_check"], "ok");
    const { from, to, applied } = migrate(connection, fixtureMigrations());
    assert.deepEqual([from, to, applied.length], [version, STEPS, STEPS - version]);
    assert.equal(schemaVersion(connection), STEPS);
    return version;
  } finally {
    connection.close();
  }
}

describe("SQLite: a migration that is killed", () => {
  for (let step = 1; step <= STEPS; step += 1) {
    test(`in the middle of number ${step} leaves the schema before it, and starts`, async () => {
      await using folder = await tempFolder();
      const path = join(folder.path, "orb.db");
      await using child = new Child("migrate", path, String(step));
      assert.equal(await child.line(), "ready");
      assert.equal(await child.line(), "inside");
      await child.kill();
      assert.equal(expectStarts(path), step - 1);
    });
  }

  test("at any moment leaves an old or a new schema, and starts", async () => {
    for (let round = 0; round < (FULL ? 100 : 5); round += 1) {
      await using folder = await tempFolder();
      const path = join(folder.path, "orb.db");
      await using child = new Child("migrate", path);
      assert.equal(await child.line(), "ready");
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      await child.kill();
      expectStarts(path);
    }
  });
});

describe("SQLite: several processes on one file", () => {
  test("may open a new database at the same moment", async () => {
    await using folder = await tempFolder();
    const children = [1, 2, 3].map(() => new Child("open"));
    try {
      for (const child of children) assert.equal(await child.line(), "ready");
      for (let round = 0; round < (FULL ? 200 : 10); round += 1) {
        for (const child of children) child.say(join(folder.path, `${round}`, "orb.db"));
        const instances = await Promise.all(children.map((child) => child.line()));
        for (const [index, line] of instances.entries()) if (line === null) await children[index]?.end();
        assert.equal(new Set(instances).size, 1, "all see one database");
        assert.match(String(instances[0]), /^[0-9a-f-]{36}$/);
      }
      for (const child of children) child.process.stdin?.end();
      await Promise.all(children.map((child) => child.end()));
    } finally {
      for (const child of children) await child.kill();
    }
  });

  test("may migrate an old database at the same moment", async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, "orb.db");
    const old = new SqliteConnection(path);
    migrate(old, fixtureMigrations().slice(0, 1));
    old.close();
    const children = [1, 2, 3].map(() => new Child("migrate", path));
    try {
      await Promise.all(children.map((child) => child.end()));
    } finally {
      for (const child of children) await child.kill();
    }
    assert.equal(expectStarts(path), STEPS);
  });

  test("may add overlapping keys: each is there once, and the counters are right", async () => {
    const harness = await sqliteHarness();
    const kit = new Kit(await harness.open(), harness);
    const children: Child[] = [];
    try {
      const run = await kit.run();
      children.push(
        new Child("enqueue", harness.path, run.id, "0", "2000", "50"),
        new Child("enqueue", harness.path, run.id, "1000", "3000", "70"),
        new Child("enqueue", harness.path, run.id, "500", "2500", "13"),
      );
      for (const child of children) assert.equal(await child.line(), "ready");
      for (const child of children) child.say("go");
      const added = await Promise.all(children.map((child) => child.line()));
      await Promise.all(children.map((child) => child.end()));
      assert.equal(
        added.reduce((sum, text) => sum + Number(text), 0),
        3000,
      );
      assert.deepEqual(await kit.counts(run), { queued: 3000 });
      const tasks = await kit.store.tasks(run.id, { limit: 10_000 });
      assert.equal(new Set(tasks.map((task) => task.key)).size, 3000);
      await kit.expectClean();
    } finally {
      for (const child of children) await child.kill();
      await harness.close();
    }
  });

  test("a process killed while it adds leaves whole batches", async () => {
    const harness = await sqliteHarness();
    const kit = new Kit(await harness.open(), harness);
    try {
      const run = await kit.run();
      await using child = new Child("enqueue", harness.path, run.id, "0", "1000000", "250");
      assert.equal(await child.line(), "ready");
      child.say("go");
      while (((await kit.counts(run)).queued ?? 0) < 500) await new Promise((resolve) => setImmediate(resolve));
      await child.kill();
      const { queued } = await kit.counts(run);
      assert.equal((queued ?? 0) % 250, 0);
      await kit.expectClean();
      assert.equal((await kit.enqueue(run, [newTask("new")])).added, 1);
    } finally {
      await harness.close();
    }
  });

  test("that keep the lock too long make a writer say so, and not a reader", async () => {
    const harness = await sqliteHarness();
    const connection = new SqliteConnection(harness.path, { busyTimeoutMs: 30 });
    const store = openSqliteStore({ path: harness.path, clock: harness.clockOfStore, connection });
    const kit = new Kit(store, harness);
    try {
      const run = await kit.runWith(["a"]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      await using child = new Child("hold-lock", harness.path);
      assert.equal(await child.line(), "locked");
      await refused("database_busy", kit.enqueue(run, ["b"]));
      await refused("database_busy", kit.settle(lane, tasks, DONE));
      assert.deepEqual(await kit.counts(run), { running: 1 });
      child.say("let go");
      assert.equal(await child.line(), "released");
      await kit.settle(lane, tasks, DONE);
      assert.equal(await kit.status(run), "completed");
      await kit.expectClean();
    } finally {
      await store.close();
      await harness.close();
    }
  });
});
