import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type RunFilter, SEARCHED_RUNS } from "../../src/store/records/job-records.ts";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import type { Context } from "../../src/store/sql/kernel/context.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { readRuns } from "../../src/store/sql/runs/run-lists.ts";

/** Remembers the statements that it is asked for. */
class Watched extends SqliteConnection {
  readonly asked: string[] = [];

  override sql(text: string) {
    this.asked.push(text);
    return super.sql(text);
  }
}

function database(runs: number): { connection: Watched; context: Context } {
  const connection = new Watched(":memory:");
  migrate(connection);
  connection.db.exec(`
    WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${runs})
    INSERT INTO runs (id, kind, status, snapshot, name, url, site, job, created_at)
    SELECT 'run-' || n, iif(n % 7 = 0, 'crawl', 'page'), 'queued', 'null', 'name ' || n, 'https://a.example/' || n,
      'a.example', 'job', n FROM numbers`);
  const time = () => 0;
  return {
    connection,
    context: { connection, instance: "0b5cb1c4-11f3", singleEngine: true, leaseNow: time, wallNow: time },
  };
}

describe("SQLite: lists of runs", () => {
  const FILTERS: Record<string, Omit<RunFilter, "limit">> = {
    runs_by_kind: { kind: "crawl" },
    runs_by_job: { jobId: "job" },
    runs_by_site: { site: "a.example" },
    runs_by_status: { status: ["failed"] },
  };

  for (const [index, filter] of Object.entries(FILTERS))
    test(`by ${Object.keys(filter)} are read along an index, in its order`, () => {
      const { connection, context } = database(50);
      readRuns(context, { ...filter, limit: 10 });
      const statement = connection.asked.at(-1) ?? "";
      const values = Array.from(statement.matchAll(/\?/g), () => 1);
      const plan = connection.db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all(...values);
      const steps = plan.map((step) => String(step["detail"]));
      assert.match(steps[0] ?? "", new RegExp(`^SEARCH runs USING INDEX ${index} `), steps.join("; "));
      const beside = [
        "CORRELATED SCALAR SUBQUERY 1",
        "SEARCH d USING PRIMARY KEY (job=?)",
        // How many runs, and for how long, its job keeps.
        "CORRELATED SCALAR SUBQUERY 2",
        "SEARCH j USING INDEX sqlite_autoindex_jobs_1 (id=?)",
        "CORRELATED SCALAR SUBQUERY 3",
        "SEARCH j USING INDEX sqlite_autoindex_jobs_1 (id=?)",
        "CORRELATED SCALAR SUBQUERY 4",
        "SEARCH p USING INTEGER PRIMARY KEY (rowid=?)",
        // Whether its records are degraded.
        "CORRELATED SCALAR SUBQUERY 5",
        "SEARCH h USING INTEGER PRIMARY KEY (rowid=?)",
      ];
      assert.deepEqual(
        steps.slice(1),
        beside,
        "beside it only rows of the job, the workflow and the health of the run",
      );
      connection.close();
    });

  test("are searched for a text among the newest only; an id finds any run", () => {
    const { connection, context } = database(SEARCHED_RUNS + 5);
    const found = (q: string, more: Partial<RunFilter> = {}) =>
      readRuns(context, { q, limit: 3, ...more }).map(({ id }) => id);
    assert.deepEqual(found("name 5"), ["run-5999", "run-5998", "run-5997"], "newest first");
    assert.deepEqual(found("name 6", { after: "run-60" }), ["run-6"], "the oldest that is searched");
    assert.deepEqual(found("example/5", { after: "run-50" }), [], "one older");
    assert.deepEqual(found("run-5"), ["run-5"]);
    assert.deepEqual(found("run-5", { kind: "crawl" }), [], "the other filters still hold");
    connection.close();
  });
});
