import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import type { Clock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createSeal } from "../../src/base/seal.ts";
import { PUBLIC_ONLY } from "../../src/net/address.ts";
import { createJob } from "../../src/orchestrator/jobs/manage.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { removeExpiredRuns } from "../../src/supervisor/duties/remove-expired-runs.ts";
import { startDueJobs } from "../../src/supervisor/duties/start-due-jobs.ts";
import { sweepOrphanedFiles } from "../../src/supervisor/duties/sweep-orphaned-files.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { attempt, candidate, TTL } from "../contract/store/kit.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { kindSettings } from "../support/kind-settings.ts";
import { preparedInMemory } from "../support/prepared-database.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";
import { tempDir } from "../support/temp-dir.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const WEEK = 7 * 24 * 60;
const LANE = "site:a.example";
const { signal } = new AbortController();

/** An installation whose duties are done by hand, minute by minute, with a real database and real files. */
function open(t: TestContext) {
  const folder = tempDir();
  const clock = new FakeClock();
  // Rests between two transactions take no time here.
  const busy: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(_ms, fn) {
      const handle = setImmediate(fn);
      return { cancel: () => clearImmediate(handle) };
    },
  };
  // In memory: ten thousand runs are written durably, and a disk takes minutes for that.
  const connection = preparedInMemory();
  const store = openSqliteStore({ path: ":memory:", clock, connection });
  const artifacts = createArtifactStore({ dir: join(folder.path, "artifacts"), clock });
  t.after(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });
  const retention = { temporaryMs: 86_400_000, keepRuns: 1000, keepDays: 0 };
  const deps = {
    store,
    clock,
    wake: async () => {},
    log: createLog({ level: "debug", pretty: false, write: () => {} }),
    random: systemRandom,
    seal: createSeal("a key that only tests know"),
    policy: PUBLIC_ONLY,
    defaultMaxAttempts: 3,
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    maxConcurrentCrawls: 5,
    minScheduleMs: 1000,
    retention,
    diskBudget: { bytes: 0, action: "warn" as const },
    respectRobots: true,
    extractors: { llm: false, named: async () => [] },
    proxyRules: PROXY_RULES,
    stepKinds: async () => createStepKinds(kindSettings, []),
  };
  const due = startDueJobs(deps);
  const remove = removeExpiredRuns({ store, clock: busy, retention });
  const sweep = sweepOrphanedFiles({ store, artifacts });
  let pages = 0;

  /** Each page is another one, and is kept as a file with its record. */
  async function work(): Promise<void> {
    await store.takeEngine(candidate("worker"), TTL);
    const grant = (await store.takeLane(LANE, "worker", TTL))!;
    const claim = (await store.claim(grant, { limit: 100 }, clock.now()))!;
    const tasks = [];
    for (const task of claim.tasks) {
      const writer = artifacts.writer();
      await writer.write(Buffer.from(`the page as it was the ${(pages += 1)}th time`));
      const file = { ...(await writer.finish()), contentType: "text/html", url: task.url ?? "" };
      const verdict = { kind: "completed" as const, artifacts: [file], results: [{ pages }], detail: null };
      tasks.push({ task, verdict, attempt: attempt(1) });
    }
    await store.settle([{ hold: grant, tasks }], clock.now());
    await store.releaseLane(grant);
  }

  const number = (sql: string) => Number(Object.values(connection.db.prepare(sql).get() ?? {})[0]);
  return {
    deps,
    async minute(): Promise<void> {
      await clock.advance(MINUTE);
      await due.run(signal);
      await work();
      await remove.run(signal);
      await store.trimAuditLog(clock.now() - DAY, 1000);
      await sweep.run(signal);
    },
    runs: async () => (await store.runs({ limit: 20_000 })).length,
    /** All tables but what is known of the installation itself. */
    rows(): number {
      const tables = connection.db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
      return tables.reduce((sum, { name }) => sum + number(`SELECT count(*) FROM "${String(name)}"`), 0);
    },
    files: () =>
      readdirSync(artifacts.home, { recursive: true, encoding: "utf8" }).filter((name) =>
        statSync(join(artifacts.home, name)).isFile(),
      ).length,
    databasePages: () => number("PRAGMA page_count"),
  };
}

test("a page job that runs every minute for a week leaves no more than its policy keeps [slow]", async (t) => {
  const harness = open(t);
  const keep = 100;
  await createJob(harness.deps, {
    target_url: "https://a.example/",
    schedule: { cron: "* * * * *" },
    keep_runs: keep,
  });
  // Occurrences of a schedule are kept by a policy of their own, a thousand of them.
  const OCCURRENCES = 1000;
  // The audit log has a policy of its own, too: here, a day.
  const AUDITED = DAY / MINUTE;
  let afterADay = { rows: 0, pages: 0 };
  for (let minute = 1; minute <= WEEK; minute += 1) {
    await harness.minute();
    if (minute === 24 * 60) afterADay = { rows: harness.rows(), pages: harness.databasePages() };
    if (minute % 1000 === 0) {
      assert.ok((await harness.runs()) <= keep + 1, `${await harness.runs()} runs after ${minute} minutes`);
      assert.deepEqual((await harness.deps.store.audit()).findings, []);
    }
  }
  assert.equal(await harness.runs(), keep);
  assert.ok(harness.files() <= keep + 1, `${harness.files()} files`);
  assert.ok(harness.rows() <= afterADay.rows + 10, `${harness.rows()} rows, ${afterADay.rows} after a day`);
  assert.ok(harness.rows() < OCCURRENCES + AUDITED + keep * 12, `${harness.rows()} rows`);
  assert.ok(harness.databasePages() <= afterADay.pages * 1.2, "the room of what is gone is used again");
});
