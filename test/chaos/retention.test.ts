import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { openClient } from "../../src/app/context.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { crawlOptionsFrom } from "../../src/orchestrator/crawls/options.ts";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { RunRecord } from "../../src/store/ports/port.ts";
import { attempt, candidate, LANE, newTask, TTL } from "../contract/store/kit.ts";
import { assertSound, withSeed } from "./kills.ts";
import { FULL, Orb, report, until } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 8 : 1;
const PAGES = FULL ? 20_000 : 3000;
const RECORDS = Array.from({ length: 10 }, (_, n) => ({ n }));
const DAY = 24 * 3_600_000;

/** A crawl that ended some time ago: each page gave ten records and a file, and every tenth page failed. */
async function crawlOf(orb: Orb, pages: number, age: number): Promise<RunRecord> {
  const { config } = loadConfig({ env: orb.env, cwd: orb.dir });
  await using client = await openClient(config);
  const { store, artifacts } = client;
  const then = systemClock.now() - age;
  const options = crawlOptionsFrom(client, { url: "https://a.example/", max_pages: pages });
  const keys = Array.from({ length: pages }, (_, n) => `${age}-${n}`);
  const { created } = await store.startRun(
    { kind: "crawl", maxAttempts: 1, snapshot: { options }, budget: { key: `b${age}`, cap: 5 }, temporary: true },
    keys.map((key) => newTask(key, { handler: "@crawl" })),
    then,
  );
  await store.admitCrawls(100, then);
  await store.takeEngine(candidate("before"), TTL);
  const hold = (await store.takeLane(LANE, "before", TTL))!;
  for (let claim = await store.claim(hold, { limit: 500 }, then); (claim?.tasks.length ?? 0) > 0;) {
    const tasks = [];
    for (const [index, task] of (claim?.tasks ?? []).entries()) {
      const writer = artifacts.writer();
      await writer.write(Buffer.from(`the page ${task.key}`));
      const stored = { ...(await writer.finish()), contentType: "text/plain", url: task.url ?? "" };
      const failure = { code: "bad_response", reason: "http_not_found", message: "gone" } as const;
      const verdict =
        index % 10 === 0
          ? { kind: "failed" as const, failure }
          : { kind: "completed" as const, artifacts: [stored], results: RECORDS, detail: null };
      tasks.push({ task, verdict, attempt: attempt(1) });
    }
    await store.settle([{ hold, tasks }], then);
    claim = await store.claim(hold, { limit: 500 }, then);
  }
  await store.releaseLane(hold);
  await store.releaseEngine("before");
  return (await store.run(created.id))!;
}

/** Rows per table, read concurrently with the writer. */
function rowsOf(orb: Orb): Record<string, number> {
  const db = new DatabaseSync(orb.database, { readOnly: true, timeout: 5000 });
  try {
    const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    const tables = ["runs", "streams", "tasks", "results", "artifacts", "events", "run_errors", "budgets"];
    return Object.fromEntries(tables.map((table) => [table, count(table)]));
  } finally {
    db.close();
  }
}

describe("a crawl that was kept long enough", () => {
  test("is removed to the last row although the process is killed again and again; another stays whole", async () => {
    await withSeed(async (random) => {
      await using orb = new Orb({ APP_RETENTION_HOURS: "24" });
      const kept = await crawlOf(orb, 50, DAY - 3_600_000);
      const whole = rowsOf(orb);
      const total = (rows: Record<string, number>) => Object.values(rows).reduce((sum, n) => sum + n, 0);
      let expired = await crawlOf(orb, PAGES, DAY + 1000);
      let all = rowsOf(orb);
      const toGo = total(all) - total(whole);
      let [kills, missed] = [0, 0];
      while (kills < KILLS) {
        const { process } = await Served.start(orb);
        // Rows are removed in batches: kill somewhere in between.
        const goal = total(all) - Math.floor((toGo * (kills + 1 - random.next())) / (KILLS + 1)) - 1;
        await until(() => {
          if (total(rowsOf(orb)) > goal) return false;
          process.kill("SIGKILL");
          return true;
        }, "rows are removed");
        await process.ended;
        await orb.audit();
        if (total(rowsOf(orb)) > total(whole)) kills += 1;
        else {
          // It removed everything before the check.
          assert.ok((missed += 1) < 10, "it can be killed in the middle");
          expired = await crawlOf(orb, PAGES, DAY + 1000 * (1 + missed));
          all = rowsOf(orb);
          kills = 0;
        }
      }
      const served = await Served.start(orb);
      const gone = await served.api.get(`/scraping/tasks/${expired.id}/results`);
      assert.equal(gone.status, 404, gone.text);
      await until(() => total(rowsOf(orb)) === total(whole), "all of it is removed");
      assert.deepEqual(rowsOf(orb), whole);
      const view = (await served.api.get(`/scraping/tasks/${kept.id}/status`)).json<CrawlView>();
      assert.equal(view.expires_at, new Date(kept.finishedAt! + DAY).toISOString());
      const found = await served.api.get(`/scraping/tasks/${kept.id}/results?limit=1000`);
      assert.equal(found.json<{ items: unknown[] }>().items.length, 45 * RECORDS.length);
      report("a removal that is killed", { rows: toGo, kills: KILLS });
      await served.terminated();
      await orb.audit();
      assertSound(orb.database);
    });
  });
});

const RUNS = FULL ? 10_000 : 1500;

/** Ended runs of single pages, each with a record and a file of its own. */
async function pagesOf(orb: Orb, count: number): Promise<void> {
  const { config } = loadConfig({ env: orb.env, cwd: orb.dir });
  await using client = await openClient(config);
  const { store, artifacts } = client;
  const now = systemClock.now();
  for (let n = 0; n < count; n += 1)
    await store.startRun({ kind: "page", maxAttempts: 1, snapshot: { n } }, [newTask(`p${n}`)], now);
  await store.takeEngine(candidate("before"), TTL);
  const hold = (await store.takeLane(LANE, "before", TTL))!;
  for (;;) {
    const { tasks = [] } = (await store.claim(hold, { limit: 500 }, now)) ?? {};
    if (tasks.length === 0) break;
    const settled = [];
    for (const task of tasks) {
      const writer = artifacts.writer();
      await writer.write(Buffer.from(`the page ${task.key}`));
      const file = { ...(await writer.finish()), contentType: "text/plain", url: task.url ?? "" };
      const verdict = { kind: "completed" as const, artifacts: [file], results: [{ n: 1 }], detail: null };
      settled.push({ task, verdict, attempt: attempt(1) });
    }
    await store.settle([{ hold, tasks: settled }], now);
  }
  await store.releaseLane(hold);
  await store.releaseEngine("before");
}

describe("a deletion of many runs", () => {
  test("goes on where it was killed, and leaves the books right at any point", async () => {
    await withSeed(async (random) => {
      await using orb = new Orb({});
      await pagesOf(orb, RUNS);
      let served = await Served.start(orb);
      const [kept] = (await served.api.get("/runs?limit=1")).json<{ id: string }[]>();
      await served.api.post(`/jobs/runs/${kept?.id}/keep`);
      const begun = (await served.api.post("/runs/deletions", { filter: { kind: "page" } })).json<{ id: string }>();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const goal = Math.ceil((RUNS * (KILLS - kill - random.next())) / (KILLS + 1));
        const { process } = served;
        await until(() => {
          if ((rowsOf(orb)["runs"] ?? 0) > goal) return false;
          process.kill("SIGKILL");
          return true;
        }, "runs are removed");
        await process.ended;
        await served.api.close();
        await orb.audit();
        served = await Served.start(orb);
      }
      await until(() => rowsOf(orb)["runs"] === 1, "all but the one that is kept are removed");
      const { tasks, results, artifacts, streams } = rowsOf(orb);
      assert.deepEqual({ tasks, results, artifacts, streams }, { tasks: 1, results: 1, artifacts: 1, streams: 1 });
      const ended = (await served.api.get(`/runs/deletions/${begun.id}`)).json<{ status: string; deleted: number }>();
      assert.deepEqual([ended.status, ended.deleted], ["completed", RUNS - 1]);
      assert.equal((await served.api.get(`/jobs/runs/${kept?.id}`)).status, 200);
      await served.terminated();
      await orb.audit();
      assertSound(orb.database);
    });
  });
});
