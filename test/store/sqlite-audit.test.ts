import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TASK_STATES } from "../../src/domain/run/states.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { candidate, DONE, Kit, LANE, TTL } from "../contract/store/kit.ts";
import { sqliteHarness } from "./bench.ts";

const COMPLETED = TASK_STATES.indexOf("completed");

/** Each breaks a sound database by hand, and names the check that must speak up and what it must say. */
const DAMAGE: readonly { what: string; sql: string; check: RegExp; says: RegExp; wait?: number }[] = [
  {
    what: "a counter that is one too high",
    sql: "UPDATE streams SET completed = completed + 1 WHERE id = 1",
    check: /counters/,
    says: /stream 1 says 2 completed, there are 1/,
  },
  {
    what: "a task that vanished",
    sql: "DELETE FROM tasks WHERE key = 'open'",
    check: /counters/,
    says: /says 1 queued, there are 0/,
  },
  {
    what: "tasks without their stream",
    sql: "DELETE FROM streams WHERE id = 1",
    check: /counters/,
    says: /stream 1, which does not exist/,
  },
  {
    what: "a wrong number of open streams",
    sql: "UPDATE runs SET open_streams = open_streams + 1 WHERE n = 2",
    check: /counters of open streams/,
    says: /says 2 open streams, there are 1/,
  },
  {
    what: "a failure that nobody had",
    sql: "INSERT INTO run_errors VALUES (1, 'unknown', 'internal', 2, 1, 'x')",
    check: /failure counters of runs/,
    says: /has counted 2 failures, there are 0/,
  },
  {
    what: "an ended run without its end",
    sql: "DELETE FROM events WHERE run = 1 AND terminal = 1",
    check: /one terminal event/,
    says: /completed and has 0 terminal events/,
  },
  {
    what: "a running run with an end",
    sql: "UPDATE events SET terminal = 1 WHERE run = 2 AND seq = 1",
    check: /one terminal event/,
    says: /running and has 1 terminal events/,
  },
  {
    what: "an end written twice",
    sql: `DROP INDEX events_terminal;
      INSERT INTO events (run, seq, generation, terminal, level, message, created_at) VALUES (1, 99, 1, 1, 'info', 'x', 0)`,
    check: /one terminal event/,
    says: /completed and has 2 terminal events/,
  },
  {
    what: "a running run with nothing to do",
    sql: "UPDATE runs SET status = 'running' WHERE n = 1",
    check: /has ended, is active, is paused or has a reason/,
    says: /running with 0 open streams/,
  },
  {
    what: "an ended run with open work",
    sql: "UPDATE runs SET status = 'completed' WHERE n = 2",
    check: /has ended, is active, is paused or has a reason/,
    says: /completed with 1 open streams/,
  },
  {
    what: "a task in the hands of the dead",
    sql: "UPDATE lanes SET lease_until = 0",
    check: /dead owner/,
    says: /has 1 running tasks and no living owner/,
  },
  {
    what: "work that waits for an owner",
    sql: "UPDATE lanes SET owner = NULL",
    wait: 180_000,
    check: /left without an owner/,
    says: /ready work for over a minute/,
  },
  {
    what: "a record of a task that is not completed",
    sql: "INSERT INTO results (task, ordinal, data, created_at) SELECT id, 0, '1', 0 FROM tasks WHERE key = 'open'",
    check: /belong to completed tasks/,
    says: /results of task \d+, which is not completed/,
  },
  {
    what: "a file of no task",
    sql: "INSERT INTO artifacts (task, ordinal, hash, size, url, created_at) VALUES (999, 0, x'00', 1, 'u', 0)",
    check: /belong to completed tasks/,
    says: /artifacts of task 999/,
  },
  {
    what: "a record that is there twice",
    sql: `DROP INDEX results_by_task; INSERT INTO results (task, ordinal, data, created_at)
      SELECT id, 0, '1', 0 FROM tasks WHERE state = ${COMPLETED} UNION ALL SELECT id, 0, '1', 0 FROM tasks WHERE state = ${COMPLETED}`,
    check: /belong to completed tasks/,
    says: /results: task \d+ has number 0 twice/,
  },
  {
    what: "an event of a run that was removed",
    sql: "INSERT INTO events (run, seq, generation, level, message, created_at) VALUES (999, 1, 1, 'info', 'Run created', 0)",
    check: /left of deleted runs/,
    says: /events of run number 999/,
  },
  {
    what: "units lent to the dead",
    sql: "INSERT INTO budget_permits VALUES ('resolver:x', 'ghost', 2)",
    check: /belong to live processes/,
    says: /resolver:x is lent to ghost/,
  },
];

describe("SQLite: the audit finds", () => {
  for (const { what, sql, check, says, wait = 0 } of DAMAGE) {
    test(what, async () => {
      const harness = await sqliteHarness();
      try {
        const kit = new Kit(await harness.open(), harness);
        await kit.runWith(["done"]);
        const lane = await kit.take("A");
        await kit.work(lane, DONE);
        await kit.runWith(["busy", "open"]);
        await kit.claim(lane, 1);
        await kit.expectClean();

        const hand = new SqliteConnection(harness.path);
        hand.db.exec(sql);
        hand.close();
        for (let passed = 0; passed < wait; passed += TTL / 2) {
          kit.pass(TTL / 2);
          await kit.store.heartbeat("A", TTL);
        }
        const { checks, findings } = await kit.store.audit();
        const found = findings.filter((finding) => check.test(finding.check));
        assert.ok(
          found.some((finding) => says.test(finding.what)),
          JSON.stringify(findings),
        );
        assert.ok(findings.every((finding) => checks.includes(finding.check)));
      } finally {
        await harness.close();
      }
    });
  }

  test("nothing wrong in unfinished work while no engine lives", async () => {
    const harness = await sqliteHarness();
    try {
      const kit = new Kit(await harness.open(), harness);
      await kit.runWith(["busy", "open"]);
      await kit.claim(await kit.take("A", LANE), 1);
      kit.pass(3_600_000);
      await kit.expectClean();
      await kit.store.takeEngine(candidate("B"), TTL);
      await kit.expectClean();
    } finally {
      await harness.close();
    }
  });

  test("many faults of one kind, of which it lists the first", async () => {
    const harness = await sqliteHarness();
    try {
      const kit = new Kit(await harness.open(), harness);
      for (let n = 0; n < 50; n += 1) await kit.run();
      const hand = new SqliteConnection(harness.path);
      hand.db.exec("UPDATE runs SET open_streams = 1");
      hand.close();
      const { findings } = await kit.store.audit();
      assert.ok(findings.length >= 10 && findings.length <= 50, `${findings.length} findings`);
    } finally {
      await harness.close();
    }
  });
});
