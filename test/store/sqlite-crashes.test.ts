import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { NewRun, RunRecord } from "../../src/store/ports/port.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { DONE, evidence, Kit, newTask, refused, retryAt, temporary } from "../contract/store/kit.ts";
import { newWorkflow, workOn } from "../contract/store/workflow-kit.ts";
import { Child, FULL, sqliteHarness } from "./bench.ts";

const ROUNDS = FULL ? 40 : 4;

/** A database and its kit, gone with the test. */
async function withKit(body: (kit: Kit, path: string) => Promise<void>): Promise<void> {
  const harness = await sqliteHarness();
  try {
    await body(new Kit(await harness.open(), harness), harness.path);
  } finally {
    await harness.close();
  }
}

/** Starts the child's work, and hears so many lines of it. */
async function hear(child: Child, lines: number): Promise<string[]> {
  assert.equal(await child.line(), "ready");
  child.say("go");
  const heard: string[] = [];
  while (heard.length < lines) {
    const line = await child.line();
    if (line === null) return heard;
    heard.push(line);
  }
  return heard;
}

async function rest(child: Child): Promise<string[]> {
  const heard: string[] = [];
  for (let line = await child.line(); line !== null; line = await child.line()) heard.push(line);
  return heard;
}

const idOf = (line: string) => line.split(" ")[0] ?? "";

describe("SQLite: a process that is killed", () => {
  test("while it starts runs under keys leaves whole runs, and its repetition makes none twice", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await withKit(async (kit, path) => {
        await using first = new Child("start-runs", path, "60");
        const acknowledged = await hear(first, 1 + Math.floor(Math.random() * 40));
        await first.kill();
        acknowledged.push(...(await rest(first)));
        const left = await kit.store.runs({ limit: 1000 });
        assert.ok(left.length >= acknowledged.length && left.length <= acknowledged.length + 1);
        for (const run of left) assert.deepEqual(await kit.counts(run), { queued: 3 });
        await kit.expectClean();

        await using second = new Child("start-runs", path, "60");
        const repeated = await hear(second, 60);
        await second.end();
        assert.deepEqual(repeated.slice(0, acknowledged.length).map(idOf), acknowledged.map(idOf));
        for (const [index, line] of repeated.entries())
          assert.equal(line.endsWith(" again 0"), index < left.length, line);
        const all = await kit.store.runs({ limit: 1000 });
        assert.deepEqual(new Set(all.map(({ id }) => id)), new Set(repeated.map(idOf)));
        assert.equal(all.length, 60);
        for (const run of all) assert.deepEqual(await kit.counts(run), { queued: 3 });
        await kit.expectClean();
      });
    }
  });

  test("while it works leaves for every attempt its history, its words, its facts and its memory, or none", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await withKit(async (kit, path) => {
        const runs: RunRecord[] = [];
        for (let n = 0; n < 20; n += 1) runs.push(await kit.page(`p${n}`));
        await using child = new Child("attempt", path);
        await hear(child, 1 + Math.floor(Math.random() * 30));
        await child.kill();
        const lane = await kit.take("B");
        const claimed = new Map((await kit.claim(lane)).tasks.map((task) => [task.runId, task]));
        for (const [index, run] of runs.entries()) {
          const task = await kit.store.taskByKey(run.id, `p${index}`);
          const tried = task?.attempts.length ?? 0;
          const told = (await kit.words(run)).filter((words) => words.startsWith("Tried"));
          assert.deepEqual(
            told,
            Array.from({ length: tried }, (_, n) => `Tried ${n + 1}`),
          );
          assert.equal((await kit.store.run(run.id))?.facts.attempt ?? 0, tried);
          const files = await kit.store.artifactsOf(task?.id ?? "");
          const completed = task?.state === "completed";
          assert.equal(files.length, completed || tried === 0 ? 0 : 1 + (tried % 2));
          const memory = claimed.get(run.id)?.memory;
          if (memory !== undefined) assert.deepEqual(memory, tried === 0 ? null : { attempts: tried });
          assert.equal((await kit.ends(run)).length, claimed.has(run.id) ? 0 : 1);
        }
        await kit.expectClean();
        await kit.settle(lane, [...claimed.values()], DONE);
        for (const run of runs) assert.equal((await kit.ends(run)).length, 1);
        await kit.expectClean();
      });
    }
  });

  test("while it moves a site from group to group leaves it in one of them, with all of its work", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await withKit(async (kit, path) => {
        const runs: RunRecord[] = [];
        for (let n = 0; n < 30; n += 1) runs.push(await kit.page(`p${n}`));
        const before = await kit.take("A");
        await kit.claim(before, 10);
        await using child = new Child("regroup", path, "a.example");
        const turns = (await hear(child, 1 + Math.floor(Math.random() * 20))).length;
        await child.kill();
        const last = turns + (await rest(child)).length;
        const site = await kit.store.site("a.example");
        const done = site?.maxConcurrency ?? 0;
        assert.ok(done === last || done === last + 1, `${done} after ${last}`);
        const group = done % 3 === 0 ? null : `g${done % 3}`;
        assert.deepEqual([site?.group, site?.lane], [group, group === null ? "site:a.example" : `group:${group}`]);
        await kit.expectClean();
        const lane = await kit.take("A", site?.lane);
        const { tasks } = await kit.claim(lane);
        assert.equal(tasks.length, runs.length);
        assert.ok(tasks.every(({ tries, attempts }) => tries === 0 && attempts.length === 0));
        await kit.settle(lane, tasks, DONE);
        for (const run of runs) assert.equal((await kit.ends(run)).length, 1);
      });
    }
  });

  test("while it sweeps a cancelled run leaves whole pieces, and another one goes on", async () => {
    await withKit(async (kit, path) => {
      const run = await kit.run();
      const keys = Array.from({ length: 500 }, (_, index) => `k${index}`);
      await kit.enqueue(
        run,
        keys.map((key, index) => newTask(key, { lane: `site:s${index % 3}.example` })),
      );
      await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
      await using first = new Child("sweep", path, "7");
      await hear(first, 5);
      await first.kill();
      const { cancelled = 0, queued = 0 } = await kit.counts(run);
      assert.equal(cancelled + queued, 500);
      assert.ok(cancelled >= 35);
      await kit.expectClean();
      await using second = new Child("sweep", path, "50");
      const swept = [...(await hear(second, 1)), ...(await rest(second))].map(Number);
      assert.equal(
        swept.reduce((sum, n) => sum + n, 0),
        queued,
      );
      assert.deepEqual(await kit.counts(run), { cancelled: 500 });
      assert.equal((await kit.ends(run)).length, 1);
      await kit.expectClean();
    });
  });

  test("while it removes crawls leaves sound books at any point, and another one goes on", async () => {
    await withKit(async (kit, path) => {
      const crawl = async (lane: string) => {
        const tasks = Array.from({ length: 40 }, (_, index) => newTask(`k${index}`, { lane }));
        const run: NewRun = { kind: "crawl", maxAttempts: 1, snapshot: { options: {} }, temporary: true };
        const { created } = await kit.store.startRun(run, tasks, kit.now);
        await kit.store.admitCrawls(100, kit.now);
        const file = { hash: "a".repeat(64), size: 1, contentType: null, url: "https://a.example/" };
        const done = { ...DONE, artifacts: [file], results: [1, 2] } as typeof DONE;
        await kit.work(await kit.take("A", lane), done);
        assert.equal(await kit.status(created), "completed");
        return created;
      };
      await crawl("site:a.example");
      await crawl("site:b.example");
      const before = kit.now;
      kit.pass(1000);
      const kept = await crawl("site:c.example");
      assert.equal(await kit.store.expireRuns(temporary(before), 10, kit.now), 2);
      let rows = 0;
      for (let kills = 0; ; kills += 1) {
        await using child = new Child("remove", path, "5");
        const removed = await hear(child, 1 + Math.floor(Math.random() * 30));
        await child.kill();
        rows += [...removed, ...(await rest(child))].reduce((sum, line) => sum + Number(line), 0);
        await kit.expectClean();
        assert.deepEqual(
          (await kit.store.runs({ limit: 10 })).map(({ id }) => id),
          [kept.id],
        );
        if (removed.at(-1) !== "0") continue;
        assert.ok(kills > 0, "it was killed in the middle");
        break;
      }
      // A kill may hide what the last transaction removed.
      assert.ok(rows <= 2 * (40 + 80 + 40 + 5), `${rows} rows`);
      assert.equal(await kit.store.countResults(kept.id), 80);
    });
  });
});

describe("SQLite: a workflow that has started thousands of runs", () => {
  test("is hidden with all of them, and whoever removes it goes on where the hiding was interrupted", async () => {
    await withKit(async (kit, path) => {
      const workflow = await newWorkflow(kit, { a: [] });
      const child = { run: { kind: "page", maxAttempts: 1, snapshot: null }, tasks: [newTask("p")] } as const;
      await workOn(kit, workflow, "a", { kind: "wait", sleep: { memory: null, until: null, child } });
      await kit.work(await kit.take("A"), DONE);
      await workOn(kit, workflow, "a", DONE);
      const hand = new SqliteConnection(path);
      try {
        const count = (what: string) => Number(hand.db.prepare(`SELECT count(*) AS n FROM runs ${what}`).get()?.["n"]);
        hand.db.exec(`
          WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers LIMIT 2500)
          INSERT INTO runs (id, kind, status, snapshot, created_at, finished_at, parent_run, parent_task)
            SELECT 'c' || value, kind, status, snapshot, created_at, finished_at, parent_run, parent_task
            FROM runs, numbers WHERE kind = 'page'`);
        await kit.store.deleteWorkflow(workflow.id, kit.now);
        assert.equal(count("WHERE removing_at IS NULL"), 0);
        hand.db.exec("UPDATE runs SET removing_at = NULL WHERE n % 3 = 0 AND kind = 'page'");
        assert.ok(count("WHERE removing_at IS NULL") > 800);
        let parts = 0;
        for (; (await kit.store.removeExpired(500)) > 0; parts += 1)
          assert.ok(
            count("WHERE kind = 'page'") === 0 || count("WHERE kind = 'workflow'") === 1,
            "the workflow goes last",
          );
        assert.equal(count(""), 0);
        assert.ok(parts > 5, `${parts} parts`);
        await kit.expectClean();
      } finally {
        hand.close();
      }
    });
  });
});

describe("SQLite: two processes", () => {
  test("that repeat the same calls at the same moment get the same answers, and make each run once", async () => {
    await withKit(async (kit, path) => {
      const children = [1, 2, 3].map(() => new Child("start-runs", path, "50"));
      try {
        for (const child of children) assert.equal(await child.line(), "ready");
        for (const child of children) child.say("go");
        const heard = await Promise.all(children.map(rest));
        await Promise.all(children.map((child) => child.end()));
        const [first = []] = heard;
        assert.equal(first.length, 50);
        for (const lines of heard) assert.deepEqual(lines.map(idOf), first.map(idOf));
        const created = heard.flat().filter((line) => line.includes(" new "));
        assert.deepEqual([created.length, new Set(created.map(idOf)).size], [50, 50]);
        assert.equal((await kit.store.runs({ limit: 1000 })).length, 50);
        await kit.expectClean();
      } finally {
        for (const child of children) await child.kill();
      }
    });
  });
});

describe("SQLite: a full disk", () => {
  test("starts no half runs, keeps no key of what was not made, and loses no report", async () => {
    const harness = await sqliteHarness();
    const connection = new SqliteConnection(harness.path);
    const store = openSqliteStore({ path: harness.path, clock: harness.clockOfStore, connection });
    const kit = new Kit(store, harness);
    const setLimit = (pages: number) => connection.db.exec(`PRAGMA max_page_count = ${pages}`);
    try {
      const run = await kit.page();
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      const words = await kit.words(run);
      const many = Array.from({ length: 2000 }, (_, index) => newTask(`k${index}`, { payload: "x".repeat(200) }));
      const once = { key: "key", fingerprint: "print" };
      const start = () => store.startRun({ kind: "crawl", maxAttempts: 1, snapshot: null }, many, kit.now, once);
      const report = () =>
        kit.report(lane, tasks, retryAt(kit.now), {
          memory: "y".repeat(200_000),
          evidence: [evidence("a")],
          run: {
            events: [{ type: "strategy.resolved", level: "info", message: "Told", meta: {} }],
            facts: { attempt: 1 },
          },
        });

      setLimit(Number(connection.db.prepare("PRAGMA page_count").get()?.["page_count"]) + 3);
      await refused("disk_full", start());
      await refused("disk_full", report());
      assert.deepEqual(await store.runs({ kind: "crawl", limit: 10 }), []);
      assert.deepEqual(await kit.words(run), words);
      assert.deepEqual(await store.artifactsOf(tasks[0]?.id ?? ""), []);
      assert.deepEqual((await store.run(run.id))?.facts, {});
      await kit.expectClean();

      setLimit(1_000_000);
      const { created, replayed } = await start();
      assert.equal(replayed, false);
      assert.deepEqual(await kit.counts(created), { queued: 2000 });
      await report();
      assert.deepEqual(await kit.words(run), [...words, "Told"]);
      await kit.expectClean();
    } finally {
      await store.close();
      await harness.close();
    }
  });
});
