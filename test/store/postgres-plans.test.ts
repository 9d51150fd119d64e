import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { StoreMethods } from "../../src/store/ports/access.ts";
import { STATE } from "../../src/store/sql/kernel/context.ts";
import { TASK_STATES } from "../../src/domain/run/states.ts";
import { attempt, DONE, evidence, FAILED, newTask, retryAt } from "../contract/store/kit.ts";
import { newJob } from "../contract/store/jobs.ts";
import { sketchWorkflow } from "../contract/store/workflow-kit.ts";
import { servicesGate } from "../support/services-kit.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { FULL } from "./bench.ts";
import { type Look, WatchedPostgres } from "./watched-postgres.ts";

const TASKS = FULL ? 1_000_000 : 100_000;
const RUNS = FULL ? 50_000 : 10_000;
const SITES = 500;
const NOW = 1_900_000_000_000;
const OWNER = "A";
const LANE = "site:s2.example";
const BIG = "00000000-0000-4000-8000-000000000001";

/** These have as many rows as there are pages or runs. Of sites and lanes there are few, and often all are wanted. */
const LARGE = new Set(["tasks", "results", "events", "artifacts", "runs", "streams"]);

/** One run has half of all pages, at every site; the others have a few at some. Most of what there is has ended. */
const FILL = `
  INSERT INTO lanes (lane) SELECT 'site:s' || i || '.example' FROM generate_series(1, ${SITES}) i;
  INSERT INTO sites (site, lane) SELECT 's' || i || '.example', i FROM generate_series(1, ${SITES}) i;
  INSERT INTO site_counts (site) SELECT site FROM sites;
  INSERT INTO runs (id, kind, status, snapshot, created_at, started_at, start_event, finished_at, first_task, last_task, job, site)
    SELECT '00000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'), CASE WHEN i % 3 = 1 THEN 'queue' ELSE 'crawl' END,
      CASE WHEN i = 1 OR i % 100 = 0 THEN 'running' ELSE 'completed' END, '{}', i, i, i,
      CASE WHEN i = 1 OR i % 100 = 0 THEN NULL ELSE i + 1 END, 1, ${TASKS},
      CASE WHEN i % 7 = 0 THEN 'job ' || i END, 's' || (1 + i % ${SITES}) || '.example'
    FROM generate_series(1, ${RUNS}) i;
  INSERT INTO streams (run, lane, site) SELECT 1, i, 's' || i || '.example' FROM generate_series(1, ${SITES}) i;
  INSERT INTO streams (run, lane, site) SELECT r, lane, 's' || lane || '.example'
    FROM (SELECT r, 1 + (r * 37 + k * 101) % ${SITES} AS lane FROM generate_series(2, ${RUNS}) r, generate_series(0, 4) k) AS made;
  INSERT INTO tasks (stream, state, created_at, ended_at, key_hash, key, url, ready_at, outcome, content)
    SELECT CASE WHEN i % 2 = 0 THEN 1 + (i / 2) % ${SITES} ELSE ${SITES} + 1 + (i / 2) % ${(RUNS - 1) * 5} END,
      state, 1, CASE WHEN state IN (${STATE.completed}, ${STATE.failed}) THEN 2 END, decode(md5(i::text), 'hex'), i::text,
      'https://s.example/' || i, 0, CASE WHEN state = ${STATE.failed} THEN '{"failure":{"reason":"dns_failed"}}' END,
      CASE WHEN state = ${STATE.completed} AND i % 4 = 0 THEN decode('0000000000000001' || md5('c' || i), 'hex') END
    FROM (SELECT i, CASE WHEN chance < 4 THEN ${STATE.failed} WHEN i % 2 = 0 AND chance = 4 THEN ${STATE.retrying}
      WHEN i % 2 = 0 AND chance >= 160 THEN ${STATE.queued} ELSE ${STATE.completed} END AS state
      FROM (SELECT i, (i / 997 * 37 + i) % 200 AS chance FROM generate_series(1, ${TASKS}) i) AS some_chance) AS made;
  UPDATE streams s SET ${TASK_STATES.map((name) => `${name} = c.${name}`).join(", ")}
    FROM (SELECT stream, ${TASK_STATES.map((name) => `count(*) FILTER (WHERE state = ${STATE[name]}) AS ${name}`).join(", ")}
      FROM tasks GROUP BY stream) AS c WHERE c.stream = s.id;
  UPDATE streams SET opened_event = 1 WHERE queued > 0 OR retrying > 0;
  UPDATE site_counts p SET ${TASK_STATES.map((name) => `${name} = c.${name}`).join(", ")}
    FROM (SELECT site, ${TASK_STATES.map((name) => `sum(${name}) AS ${name}`).join(", ")} FROM streams GROUP BY site) AS c
    WHERE c.site = p.site;
  UPDATE runs r SET open_streams = c.n FROM (SELECT run, count(*) AS n FROM streams
    WHERE queued + retrying > 0 GROUP BY run) AS c WHERE c.run = r.n;
  INSERT INTO results (task, ordinal, data, created_at, run)
    SELECT t.id, 0, '{}', 1, s.run FROM tasks t JOIN streams s ON s.id = t.stream WHERE t.state = ${STATE.completed} AND t.id % 3 > 0;
  INSERT INTO artifacts (task, ordinal, hash, size, url, created_at, run, role)
    SELECT t.id, 0, decode(md5(t.id::text) || md5('b' || t.id), 'hex'), 1, 'https://s.example/', 1, s.run, CASE WHEN t.id % 5 = 0 THEN 'exchange' END
    FROM tasks t JOIN streams s ON s.id = t.stream WHERE t.state = ${STATE.completed} AND t.id % 3 = 0;
  INSERT INTO events (run, seq, generation, level, message, created_at)
    SELECT 1 + i % ${RUNS}, 1 + i / ${RUNS}, 1, 'info', 'm', 1 FROM generate_series(1, ${TASKS / 4}) i;
  UPDATE runs SET last_seq = ${TASKS};
`;

type Work = Record<string, (methods: StoreMethods) => Promise<unknown>>;

let sites = 1;
/** One in which nothing has been claimed yet. */
const freshLane = () => `site:s${(sites += 1)}.example`;

/** What the work itself is made of: it is as quick in tables that were filled a moment ago and have no statistics. */
const CONSTANT: Work = {
  "lanes are offered, taken and kept": async (methods) => {
    await methods.joinOwners(OWNER, 600_000);
    await methods.lanesWithWork(OWNER);
    await methods.laneWork(LANE);
    await methods.lanePriorities([LANE]);
    await methods.laneShares();
    await methods.heartbeat(OWNER, 600_000);
    const hold = await methods.takeLane("site:s9.example", OWNER, 600_000);
    assert.ok(hold !== null);
    await methods.releaseLane(hold);
  },
  "pages are claimed and settled": async (methods) => {
    const hold = await methods.takeLane(freshLane(), OWNER, 600_000);
    assert.ok(hold !== null);
    for (const limit of [8, 60]) {
      const claimed = await methods.claim(hold, { limit }, NOW);
      assert.ok((claimed?.tasks.length ?? 0) > 4);
      const [first, second, third, ...rest] = claimed?.tasks ?? [];
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      const yielded = { kind: "completed", artifacts: [evidence("f")], results: [{}], detail: null } as const;
      const at = { key: `at ${first.key}`, url: "https://s2.example/at" };
      await methods.settle(
        [
          {
            hold,
            tasks: [
              { task: first, verdict: yielded, attempt: attempt(1), report: { landed: at, content: "ab".repeat(32) } },
              { task: second, verdict: FAILED, attempt: attempt(1), report: { evidence: [evidence("e")] } },
              { task: third, verdict: retryAt(NOW + 1), attempt: attempt(1), report: {} },
              ...rest.map((task) => ({ task, verdict: DONE, attempt: attempt(1) })),
            ],
          },
        ],
        NOW,
      );
    }
    await methods.releaseLane(hold);
  },
  "pages are added, some of which are there": async (methods) => {
    await methods.enqueue(BIG, [newTask("new", { lane: LANE }), newTask("newer", { lane: LANE })], NOW);
    await methods.enqueue(BIG, [newTask("new", { lane: LANE }), newTask("newest", { lane: LANE })], NOW);
    const crawl = { kind: "crawl", maxAttempts: 3, snapshot: {}, pagesLimit: 10 } as const;
    await methods.startRun(crawl, [newTask("a", { lane: LANE })], NOW, { key: "k", fingerprint: "f" });
    await methods.startRun(
      { kind: "workflow", name: "w", maxAttempts: null, snapshot: null, workflow: sketchWorkflow({ a: [], b: ["a"] }) },
      [],
      NOW,
    );
    await methods.admitCrawls(10, NOW);
  },
};

/** What people wait for, or what is done again and again. */
const FREQUENT: Work = {
  "pages, records and files are listed": async (methods) => {
    const [page] = await methods.tasks(BIG, { limit: 20 });
    assert.ok(page !== undefined);
    await methods.tasks(BIG, { limit: 20, after: page.id });
    for (const states of [["failed"], ["queued"], ["retrying", "running"]] as const)
      await methods.tasks(BIG, { limit: 20, states });
    await methods.tasks(BIG, { limit: 20, states: ["failed"], site: "s2.example", pagesOnly: true });
    const [record] = await methods.results(BIG, { limit: 20 });
    await methods.results(BIG, { limit: 20, after: record?.id ?? "" });
    await methods.exchanges(BIG, { limit: 20 });
    await methods.task(page.id);
    await methods.taskByKey(BIG, "x");
    await methods.openTasks([page.id]);
    await methods.artifactsOf(page.id);
    await methods.resultsOf(page.id);
  },
  "events are followed": async (methods) => {
    const { last } = await methods.feed({ limit: 1 });
    await methods.feed({ limit: 100, after: last });
    const [event] = await methods.events(BIG, { limit: 1 });
    await methods.events(BIG, { limit: 100, after: event?.id ?? "" });
    await methods.foreignVersion();
    await methods.controlVersion();
  },
  "runs and sites are looked at": async (methods) => {
    await methods.overview(BIG, 10);
    await methods.run(BIG);
    await methods.runErrors(BIG);
    for (const state of [undefined, ...TASK_STATES])
      await methods.runSites(BIG, { limit: 10, after: "s2.example", ...(state === undefined ? {} : { state }) });
    await methods.runs({ limit: 20 });
    await methods.runs({ limit: 20, kind: "crawl", status: ["failed", "running"] });
    await methods.runs({ limit: 20, site: "s3.example" });
    await methods.runs({ limit: 20, parent: "none" });
    await methods.runs({ limit: 20, parent: "none", status: ["failed", "running"] });
    await methods.runs({ limit: 20, parent: BIG });
    await methods.countRunsLike({ limit: 20, parent: "none", status: ["failed"] });
    await methods.runStates([BIG]);
    for (const what of ["run", "crawl"] as const) await methods.idsFrom(what, BIG.slice(0, 8), 6);
    const { created: job } = await methods.createJob(newJob("one", { nextAt: NOW }), NOW);
    await methods.runs({ limit: 20, jobId: job.id });
    await methods.lastRuns([job.id]);
    await methods.site("s4.example");
    await methods.openBreakers(NOW, 10);
    await methods.runHeldAt("s4.example");
    await methods.nextTry("s4.example");
  },
  "time passes, and what is over is swept and removed": async (methods) => {
    await methods.passTime(100, NOW, 10);
    await methods.crawlCounts();
    await methods.runsInTurn(10);
    await methods.heldRuns("proxies", 10);
    await methods.endStopped(NOW);
    await methods.changeRun(BIG.replace(/1$/, "64"), "cancelled", "Run cancelled", NOW).catch(() => {});
    await methods.sweepEnded(100, NOW);
    await methods.retryFailed(BIG, { reasons: ["dns_failed"], limit: 10 }, NOW);
    await methods.expireRuns({ temporaryBefore: NOW, endedBefore: NOW - 1e9 }, 5, NOW);
    await methods.trimJobs({ defaults: { keepRuns: 10, keepDays: 0 }, after: 0, since: 0, limit: 10 }, NOW);
    await methods.advanceDeletions(10, NOW);
    await methods.countRemoving(10);
    for (let n = 0; n < 20; n += 1) await methods.removeExpired(200);
    const { orphaned } = await methods.orphanedFiles({ limit: 10 });
    await methods.forgetOrphanedFiles(orphaned);
    await methods.dueJobs(NOW, 10);
    await methods.dutiesDue(NOW);
  },
};

describe("Postgres: what is asked for often is found without looking at everything", servicesGate, () => {
  let service: TestService;
  let watched: WatchedPostgres;
  before(async () => {
    service = await startPostgres(["-c", "autovacuum=off"]);
    watched = await WatchedPostgres.open(service.url);
    await watched.admin.query(FILL);
  });
  after(async () => {
    await watched?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const isWhole = ({ how, table, index, sought, limited }: Look) =>
    (how === "Seq Scan" && LARGE.has(table)) ||
    // All of an index is as much as all of the table, unless it holds few rows or its first ones are enough.
    (how.includes("Index") && !sought && !limited && /_pkey$|_by_/.test(index ?? "") && LARGE.has(table));

  for (const [when, prepare, methods] of [
    ["without statistics", "SELECT 1", CONSTANT],
    ["with statistics", "ANALYZE", { ...CONSTANT, ...FREQUENT }],
  ] as const)
    describe(when, () => {
      before(() => watched.admin.query(prepare));
      for (const [title, work] of Object.entries<Work[string]>(methods))
        test(title, async () => {
          watched.takeAsked();
          await work(watched.methods);
          const asked = watched.takeAsked();
          assert.ok(asked.length > 0);
          const slow: string[] = [];
          for (const request of asked)
            for (const plan of ["custom", "generic"] as const) {
              const whole = (await watched.looks(request, plan)).filter(isWhole);
              const told = whole.map(
                ({ how, table, index }) => `${how} of ${table}${index === null ? "" : ` by ${index}`}`,
              );
              if (told.length > 0) slow.push(`${plan}: ${told.join(", ")}\n  ${request.text.replaceAll(/\s+/g, " ")}`);
            }
          assert.equal(slow.length, 0, slow.join("\n"));
        });
    });
});
