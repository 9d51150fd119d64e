import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import {
  canRunMove,
  canTaskMove,
  RUN_STATES,
  TASK_STATES,
  type RunState,
  type TaskState,
} from "../../src/domain/run/states.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { storeContract } from "../contract/store.ts";
import { DONE, Kit, newTask, refused } from "../contract/store/kit.ts";
import { sqliteHarness } from "./bench.ts";

storeContract("SQLite", sqliteHarness);

describe("SQLite: an illegal transition cannot be written, not even by hand", () => {
  const connection = new SqliteConnection(":memory:");
  migrate(connection);
  let serial = 0;

  /** Whether the database lets a fresh row go from one state to the other. */
  function allows(insert: string, update: string): boolean {
    serial += 1;
    try {
      connection.write(() => {
        connection.db.exec(insert.replaceAll("$n", String(serial)));
        connection.db.exec(update.replaceAll("$n", String(serial)));
      });
      return true;
    } catch (error) {
      assert.ok(isOrbError(error, "illegal_transition"), String(error));
      return false;
    }
  }

  function taskMoves(from: TaskState, to: TaskState): boolean {
    return allows(
      `INSERT INTO tasks (id, stream, state, created_at, key_hash, key) VALUES ($n, 1, ${TASK_STATES.indexOf(from)}, 0, 'h$n', 'k')`,
      `UPDATE tasks SET state = ${TASK_STATES.indexOf(to)} WHERE id = $n`,
    );
  }

  function runMoves(from: RunState, to: RunState): boolean {
    return allows(
      `INSERT INTO runs (n, id, kind, status, snapshot, created_at) VALUES ($n, 'r$n', 'queue', '${from}', 'null', 0)`,
      `UPDATE runs SET status = '${to}' WHERE n = $n`,
    );
  }

  for (const from of TASK_STATES) {
    test(`a task that is ${from} goes only where the table says`, () => {
      for (const to of TASK_STATES) assert.equal(taskMoves(from, to), canTaskMove(from, to), `${from} → ${to}`);
    });
  }

  for (const from of RUN_STATES) {
    test(`a run that is ${from} goes only where the table says`, () => {
      for (const to of RUN_STATES) assert.equal(runMoves(from, to), canRunMove(from, to), `${from} → ${to}`);
    });
  }
});

describe("SQLite: the disk", () => {
  test("when it is full, nothing is half-written, and work goes on when there is room", async () => {
    const harness = await sqliteHarness();
    const connection = new SqliteConnection(harness.path);
    const store = openSqliteStore({ path: harness.path, clock: harness.clockOfStore, connection });
    const kit = new Kit(store, harness);
    const setLimit = (pages: number) => connection.db.exec(`PRAGMA max_page_count = ${pages}`);
    try {
      const run = await kit.runWith(["first"]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      const pages = Number(connection.db.prepare("PRAGMA page_count").get()?.["page_count"]);
      const events = await kit.events(run);
      const many = Array.from({ length: 3000 }, (_, index) => newTask(`k${index}`, { payload: "x".repeat(200) }));
      const large = { kind: "completed" as const, artifacts: [], results: ["y".repeat(200_000)], detail: null };

      setLimit(pages + 3);
      await refused("disk_full", kit.enqueue(run, many));
      await refused("disk_full", kit.settle(lane, tasks, large));
      setLimit(pages);
      await refused("disk_full", store.probe());
      assert.deepEqual(await kit.counts(run), { running: 1 });
      assert.deepEqual(await kit.events(run), events);
      assert.deepEqual(await kit.store.resultsOf(tasks[0]?.id ?? ""), []);
      await kit.expectClean();

      setLimit(1_000_000);
      await store.probe();
      assert.equal((await kit.enqueue(run, many)).added, 3000);
      await kit.settle(lane, tasks, large);
      assert.deepEqual(await kit.counts(run), { queued: 3000, completed: 1 });
      await kit.expectClean();
    } finally {
      await store.close();
      await harness.close();
    }
  });

  test("a reader sees whole transactions while a writer writes, and waits for none", async () => {
    const harness = await sqliteHarness();
    const connection = new SqliteConnection(harness.path);
    const store = openSqliteStore({ path: harness.path, clock: harness.clockOfStore, connection });
    const kit = new Kit(await harness.open(), harness);
    try {
      const run = await kit.runWith(["a"]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      let seen: Promise<unknown>[] = [];
      connection.write(() => {
        connection.db.exec("UPDATE runs SET message = 'half' ");
        seen = [kit.store.run(run.id), kit.counts(run), kit.store.audit()];
      });
      const [during, counts, audit] = await Promise.all(seen);
      assert.equal((during as { message: string }).message, "Run started");
      assert.deepEqual(counts, { running: 1 });
      assert.deepEqual((audit as { findings: unknown[] }).findings, []);
      assert.equal((await kit.store.run(run.id))?.message, "half");
      await kit.settle(lane, tasks, DONE);
      await kit.expectClean();
    } finally {
      await store.close();
      await harness.close();
    }
  });
});
