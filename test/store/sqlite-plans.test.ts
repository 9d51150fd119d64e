import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TASK_STATES } from "../../src/domain/run/states.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { type Context, NEVER } from "../../src/store/sql/kernel/context.ts";
import { countCrawls } from "../../src/store/sql/crawls/crawl-throughput.ts";
import { admitCrawls } from "../../src/store/sql/crawls/admit-crawls.ts";
import { lanesWithWork } from "../../src/store/sql/lanes/lanes.ts";
import { readLastRuns } from "../../src/store/sql/runs/last-runs.ts";
import { audit } from "../../src/store/sql/ops/audit.ts";
import { migrate, MIGRATIONS } from "../../src/store/sqlite/migrate.ts";
import { sites } from "../../src/store/sqlite/migrations/0001-0016/0005-sites.ts";
import { createJob } from "../../src/store/sql/catalog/jobs.ts";
import { expireRuns, trimJobs } from "../../src/store/sql/runs/expire-runs.ts";
import { readRunSites } from "../../src/store/sql/runs/run-sites.ts";
import { liveStore } from "../../src/store/sql/ops/live.ts";
import { countRunsLike, readRuns } from "../../src/store/sql/runs/run-lists.ts";
import { openBreakers } from "../../src/store/sql/sites/sites.ts";
import { readTasks } from "../../src/store/sql/tasks/tasks.ts";

/** Remembers the statements that it is asked for. */
class Watched extends SqliteConnection {
  readonly asked: string[] = [];

  override sql(text: string) {
    this.asked.push(text);
    return super.sql(text);
  }
}

/** A crawl that waits, with work at one site. */
function database(): { connection: Watched; context: Context } & Disposable {
  const connection = new Watched(":memory:");
  migrate(connection);
  connection.db.exec(`
    INSERT INTO runs (id, kind, status, open_streams, snapshot, created_at) VALUES ('r', 'crawl', 'queued', 1, 'null', 1);
    INSERT INTO lanes (id, lane) VALUES (1, 'site:a.example');
    INSERT INTO sites (site, lane) VALUES ('a.example', 1);
    INSERT INTO site_counts (site) VALUES ('a.example');
    INSERT INTO streams (run, lane, site, queued, running, retrying) VALUES (1, 1, 'a.example', 1, 1, 1);`);
  connection.asked.length = 0;
  const time = () => 0;
  const context = { connection, instance: "0b5cb1c4-11f3", singleEngine: true, leaseNow: time, wallNow: time };
  return { connection, context, [Symbol.dispose]: () => connection.close() };
}

/** How the rows of a table are found by the statements that read it, and whether what is found has to be sorted. */
function plans({ connection }: { connection: Watched }, table: RegExp, reading = /SELECT/): string[] {
  const statements = [...new Set(connection.asked)].filter((statement) => reading.test(statement));
  const steps = statements.flatMap((statement) =>
    connection.db
      .prepare(`EXPLAIN QUERY PLAN ${statement}`)
      .all(...Array.from({ length: Math.max(0, ...numbersOf(statement)) }, () => 1))
      .map((step) => String(step["detail"])),
  );
  return steps.filter((step) => table.test(step) || step.includes("TEMP B-TREE"));
}

function numbersOf(statement: string): number[] {
  const numbered = Array.from(statement.matchAll(/\?(\d+)/g), ([, number]) => Number(number));
  return numbered.length > 0 ? numbered : [statement.split("?").length - 1];
}

const searches = (steps: readonly string[], what: RegExp) => {
  assert.ok(steps.length > 0);
  for (const step of steps) assert.match(step, what, steps.join("\n"));
};

describe("SQLite: what is asked for often is found without looking at everything", () => {
  test("crawls that wait and run, when they are counted and let in", () => {
    using place = database();
    countCrawls(place.context);
    admitCrawls(place.context, 3, 1);
    const found = plans(place, /^(?:SEARCH|SCAN) runs\b/, /FROM runs/);
    searches(
      found,
      /INDEX runs_by_kind_and_status \(kind=\? AND status=\?|INDEX runs_held \(<expr>=\?\)|INTEGER PRIMARY KEY/,
    );
  });

  test("crawls in one state, in a list", () => {
    using place = database();
    readRuns(place.context, { kind: "crawl", status: ["failed"], limit: 10 });
    searches(plans(place, /runs/), /INDEX runs_by_kind_and_status \(kind=\? AND status=\? AND n<\?/);
  });

  test("runs that people have started, those of one state, and those that one workflow has", () => {
    using place = database();
    readRuns(place.context, { parent: "none", limit: 10 });
    searches(plans(place, /runs/), /INDEX runs_started \(n<\?\)/);
    place.connection.asked.length = 0;
    countRunsLike(place.context, { parent: "none", status: ["failed"], limit: 10 });
    searches(plans(place, /runs/), /INDEX runs_started_by_status \(status=\? AND n<\?\)/);
    place.connection.asked.length = 0;
    readRuns(place.context, { parent: "r", limit: 10 });
    searches(
      plans(place, /runs/),
      /INDEX runs_by_parent \(parent_run=\? AND n<\?\)|sqlite_autoindex_runs|INTEGER PRIMARY KEY/,
    );
  });

  test("runs that have not ended, and the first run since some time", async () => {
    using place = database();
    const methods = liveStore(place.context);
    await methods.activeRuns(20);
    await methods.countActiveRuns();
    const found = plans(place, /^(?:SEARCH|SCAN) runs\b/).filter((step) => step.includes("runs"));
    searches(found, /INDEX runs_(?:started_)?by_status \(status=\?\)|INTEGER PRIMARY KEY/);
    place.connection.asked.length = 0;
    readRuns(place.context, { since: 1, limit: 10 });
    searches(plans(place, /^(?:SEARCH|SCAN) runs\b/), /^SEARCH/);
  });

  test("the task that has waited longest, and what failed of late", async () => {
    using place = database();
    await liveStore(place.context).oldestQueued();
    searches(
      plans(place, /^(?:SEARCH|SCAN) (?:t|s)\b/),
      /tasks_queued \(stream=\?|SCAN s USING INDEX streams_ready|ORDER BY/,
    );
    place.connection.asked.length = 0;
    await liveStore(place.context).recentErrors(1, 10);
    const found = plans(place, /^(?:SEARCH|SCAN) (?:e|r|runs|old)\b/).filter((step) => /SEARCH|SCAN/.test(step));
    searches(found, /PRIMARY KEY|runs_by_status \(status=\?\)|SCAN old/);
  });

  test("the newest run of each of some jobs", () => {
    using place = database();
    readLastRuns(place.context, ["a", "b"]);
    searches(plans(place, /^(?:SEARCH|SCAN) r(?:uns)?\b/), /INDEX runs_by_job \(job=\?\)|INTEGER PRIMARY KEY/);
  });

  test("runs that were kept long enough, and those that a job has too many of", async () => {
    using place = database();
    const about = { name: null, url: "", site: "", tags: [], recipe: {}, nextAt: null, nextOccurrenceAt: null };
    await createJob(place.context, { ...about, kind: "page" }, 1);
    await expireRuns(place.context, { temporaryBefore: 1, endedBefore: 1 }, 100, 1);
    await trimJobs(place.context, { defaults: { keepRuns: 10, keepDays: 1 }, after: 0, since: 5, limit: 10 }, 1);
    const found = plans(place, /^(?:SEARCH|SCAN) runs\b/);
    // Of those that are being removed there are few.
    const indexes =
      /INDEX runs_removing|INDEX runs_expiring \(temporary=\? AND finished_at>|INDEX runs_(?:expiring_of|by)_job \(job=\?/;
    searches(found, indexes);
  });

  test("sites whose breaker is open", () => {
    using place = database();
    openBreakers(place.context, 1, 100);
    searches(plans(place, /^(?:SEARCH|SCAN) s\b/), /INDEX sites_blocked \(breaker_open_until>\?\)/);
  });

  for (const state of [undefined, ...TASK_STATES])
    test(`sites of a run${state === undefined ? "" : ` that have something ${state}`}`, () => {
      using place = database();
      readRunSites(place.context, 1, { limit: 10, after: "a.example", ...(state === undefined ? {} : { state }) });
      const ofRun = /INDEX streams_(?:by_run|queued_of_run|running_of_run|retrying_of_run) \(run=\? AND site[>=]\?/;
      searches(plans(place, /^(?:SEARCH|SCAN) s\b/), new RegExp(`${ofRun.source}|INDEX streams_open \\(lane=\\?`));
    });

  test("when sleeping steps have something to do, all in one look", () => {
    using place = database();
    const { db } = place.connection;
    db.exec("UPDATE runs SET status = 'running'");
    for (let lane = 2; lane <= 6; lane += 1)
      db.exec(`
        INSERT INTO lanes (id, lane) VALUES (${lane}, 'step:${lane}');
        INSERT INTO streams (id, run, lane, retrying) VALUES (${lane}, 1, ${lane}, 1);
        INSERT INTO tasks (stream, state, ready_at, created_at, key_hash, key)
          VALUES (${lane}, ${TASK_STATES.indexOf("retrying")}, ${lane === 6 ? NEVER : lane}, 1, '${lane}', '${lane}')`);
    place.connection.asked.length = 0;
    const found = lanesWithWork(place.context).map(({ readyAt }) => readyAt);
    assert.deepEqual(found, [0, 2, 3, 4, 5]);
    assert.equal(place.connection.asked.length, 1);
    const looks = plans(place, /^(?:SEARCH|SCAN) tasks\b/).filter((look) => look.includes("tasks"));
    assert.deepEqual(looks, ["SEARCH tasks USING COVERING INDEX tasks_retrying (stream=?)"]);
  });

  test("tasks of a run, among those of all others", () => {
    using place = database();
    readTasks(place.context, "r", { limit: 10 });
    searches(plans(place, /^(?:SEARCH|SCAN) t\b/), /INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/);
  });

  test("what a site waits for, once for all that waits there", () => {
    using place = database();
    lanesWithWork(place.context);
    const found = plans(place, /^MATERIALIZE site_waits$|^(?:SEARCH|SCAN) o\b/).filter(
      (step) => !step.includes("TEMP"),
    );
    assert.deepEqual(found, [
      "MATERIALIZE site_waits",
      "SEARCH o USING INDEX streams_opened (site=? AND opened_event>?)",
      "SEARCH o EXISTS USING INDEX streams_by_run (run=? AND site=?)",
    ]);
  });

  // All pages of one site after those of the other would be looked through once for every site.
  const SUMMED_UP_ONCE = /^(?:SCAN|SEARCH) s(?:treams)?\b.*(?:LEFT-JOIN)/;

  test("how many pages each site has, when all of them are audited", () => {
    using place = database();
    const { db, asked } = place.connection;
    const prepare = db.prepare.bind(db);
    // The audit keeps no statements.
    db.prepare = (statement) => {
      asked.push(statement);
      return prepare(statement);
    };
    audit(place.context);
    const found = plans(place, SUMMED_UP_ONCE, /FROM site_counts/).filter((step) => SUMMED_UP_ONCE.test(step));
    searches(found, /USING AUTOMATIC COVERING INDEX \(site=\?\)/);
  });

  test("how many pages each site has, when a database of an older version is opened", () => {
    const { db } = new Watched(":memory:");
    for (const { version, up } of MIGRATIONS) if (version < sites.version) up(db);
    const steps: string[] = [];
    const explained = {
      exec(script: string) {
        // Up to the statement that is asked about, and then the rest.
        const at = script.indexOf("INSERT INTO site_counts");
        if (at >= 0) {
          db.exec(script.slice(0, at));
          const plan = db.prepare(`EXPLAIN QUERY PLAN ${script.slice(at)}`).all();
          steps.push(...plan.map((step) => String(step["detail"])));
        }
        db.exec(script.slice(Math.max(0, at)));
      },
    };
    sites.up(explained as typeof db);
    db.close();
    searches(
      steps.filter((step) => SUMMED_UP_ONCE.test(step)),
      /USING AUTOMATIC COVERING INDEX \(site=\?\)/,
    );
  });
});
