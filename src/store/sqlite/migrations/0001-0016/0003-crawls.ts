import type { DatabaseSync } from "node:sqlite";
import { TASK_STATES } from "../../../../domain/run/states.ts";
import { neverReuseNumbers } from "../../never-reuse-numbers.ts";
import { keepTransitions } from "../../transitions.ts";

/** Crawls: how many pages they know, how long they ran, and their failures. */
export const crawls = {
  version: 3,
  name: "crawls",
  up(db: DatabaseSync): void {
    db.exec(`
      ALTER TABLE runs ADD COLUMN pages_limit INTEGER;
      ALTER TABLE runs ADD COLUMN pages_known INTEGER NOT NULL DEFAULT 0;
      -- Running time that is allowed, that was used until running_since, and since when it runs now.
      ALTER TABLE runs ADD COLUMN time_limit_ms INTEGER;
      ALTER TABLE runs ADD COLUMN ran_ms INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE runs ADD COLUMN running_since INTEGER;
      -- In percent; what people have seen of it never falls, although the run grows.
      ALTER TABLE runs ADD COLUMN progress INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX runs_timed ON runs (running_since) WHERE time_limit_ms IS NOT NULL AND running_since IS NOT NULL;
      -- Crawls that wait or run are looked for twice a second, among any number that have ended.
      CREATE INDEX runs_by_kind_and_status ON runs (kind, status, n);

      -- What failed of a run, counted in the transaction in which it failed; what has failed before is counted here.
      CREATE TABLE run_errors (
        run INTEGER NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL,
        count INTEGER NOT NULL, example_task INTEGER NOT NULL, example_message TEXT NOT NULL,
        PRIMARY KEY (run, code, reason)
      ) WITHOUT ROWID;
      INSERT INTO run_errors (run, code, reason, count, example_task, example_message)
        SELECT s.run, coalesce(json_extract(t.outcome, '$.failure.code'), 'unknown'),
          coalesce(json_extract(t.outcome, '$.failure.reason'), 'internal'), count(*), min(t.id),
          coalesce(json_extract(t.outcome, '$.failure.message'), '')
        FROM tasks t JOIN streams s ON s.id = t.stream WHERE t.state = ${TASK_STATES.indexOf("failed")} GROUP BY 1, 2, 3;
      -- For those that are to be tried again because of their reason.
      CREATE INDEX tasks_failed_by_reason ON tasks (stream, json_extract(outcome, '$.failure.reason'))
        WHERE state = ${TASK_STATES.indexOf("failed")};

      -- Pages of crawls that ended lately, in slots of five seconds: rates that people see.
      CREATE TABLE crawl_pace (
        slot INTEGER PRIMARY KEY,
        completed INTEGER NOT NULL, timeout INTEGER NOT NULL, connection INTEGER NOT NULL, general INTEGER NOT NULL
      );

      -- Tasks that serve a run but are none of its pages, such as its sitemaps, are counted apart from them.
      ALTER TABLE streams ADD COLUMN aside INTEGER NOT NULL DEFAULT 0 CHECK (aside IN (0, 1));
      DROP INDEX streams_by_run;
      CREATE UNIQUE INDEX streams_by_run ON streams (run, lane, resolver, aside);

      -- Sites of a run at which something is to be done: few of many, and asked for by whoever watches it.
      CREATE INDEX streams_queued_of_run ON streams (run, lane, aside) WHERE queued > 0;
      CREATE INDEX streams_running_of_run ON streams (run, lane, aside) WHERE running > 0;
      CREATE INDEX streams_retrying_of_run ON streams (run, lane, aside) WHERE retrying > 0;

      -- Between these are the tasks of a run, so that a list of them does not look at all others.
      ALTER TABLE runs ADD COLUMN first_task INTEGER;
      ALTER TABLE runs ADD COLUMN last_task INTEGER;
      UPDATE runs SET first_task = own.first, last_task = own.last FROM (
        SELECT s.run, min(t.id) AS first, max(t.id) AS last FROM tasks t JOIN streams s ON s.id = t.stream GROUP BY s.run
      ) AS own WHERE runs.n = own.run;

      CREATE INDEX sites_blocked ON sites (breaker_open_until) WHERE breaker_open_until IS NOT NULL;

      -- Pages that were reached by a redirect, and the tasks that stand for them: no page has two.
      CREATE TABLE aliases (
        run INTEGER NOT NULL, key_hash BLOB NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (run, key_hash)
      ) WITHOUT ROWID;
      -- Which page of a run was the first to say something, by 16 bytes of a hash of what it says.
      CREATE TABLE contents (
        run INTEGER NOT NULL, hash BLOB NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (run, hash)
      ) WITHOUT ROWID;
      -- What a crawl has counted to recognise traps, as JSON.
      CREATE TABLE run_traps (run INTEGER PRIMARY KEY, state TEXT NOT NULL);
      -- So long does a page take: none is begun when less time is left.
      ALTER TABLE runs ADD COLUMN page_ms INTEGER NOT NULL DEFAULT 0;

      -- What saved crawls know of their pages, to ask only whether they have changed: one row per job and page.
      CREATE TABLE page_copies (
        job INTEGER NOT NULL, key_hash BLOB NOT NULL,
        url TEXT NOT NULL, etag TEXT, last_modified TEXT, fingerprint TEXT NOT NULL,
        task INTEGER NOT NULL, records INTEGER NOT NULL, rest BLOB NOT NULL,
        PRIMARY KEY (job, key_hash)
      ) WITHOUT ROWID;

      -- The last good robots.txt of each origin, as it came: a restart asks nobody again.
      CREATE TABLE robots (
        n INTEGER PRIMARY KEY,
        origin TEXT NOT NULL UNIQUE, site TEXT NOT NULL,
        body BLOB NOT NULL, crawl_delay_ms INTEGER, got_at INTEGER NOT NULL,
        -- Of this copy and all that were kept before it: where the newest stands tells how much has come since.
        bytes_so_far INTEGER NOT NULL
      );
      CREATE INDEX robots_delays ON robots (site, crawl_delay_ms) WHERE crawl_delay_ms IS NOT NULL;
    `);
    retention(db);
    limits(db);
  },
};

/** Counters for the limits of a crawl: pages in flight, and ended pages that count or do not. */
function limits(db: DatabaseSync): void {
  db.exec(`
    ALTER TABLE runs ADD COLUMN pages_in_hand INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE runs ADD COLUMN pages_counted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE runs ADD COLUMN pages_uncounted INTEGER NOT NULL DEFAULT 0;
    UPDATE runs SET pages_in_hand = s.running, pages_counted = s.completed + s.failed, pages_uncounted = s.skipped
      FROM (SELECT run, sum(running) AS running, sum(completed) AS completed, sum(failed) AS failed, sum(skipped) AS skipped
        FROM streams GROUP BY run) AS s
      WHERE s.run = runs.n AND runs.kind = 'crawl';
    -- What goes on when a crawl does that had run out of time.
    CREATE INDEX tasks_cancelled ON tasks (stream, id) WHERE state = ${TASK_STATES.indexOf("cancelled")};
  `);
  // A reopened crawl queues again and requeues what was cut off.
  keepTransitions(db);
}

/** Crawls expire, and are removed with everything that belongs to them. */
function retention(db: DatabaseSync): void {
  // Rows may now be removed, and these numbers are public ids.
  neverReuseNumbers(db, "tasks", "id");
  neverReuseNumbers(db, "results", "n");
  db.exec(`
    -- The budget that was made with the run and goes with it.
    ALTER TABLE runs ADD COLUMN budget TEXT;
    -- Since when a run is being removed: nobody sees it any more.
    ALTER TABLE runs ADD COLUMN removing_at INTEGER;
    CREATE INDEX runs_removing ON runs (n) WHERE removing_at IS NOT NULL;
    CREATE INDEX runs_expiring ON runs (finished_at) WHERE kind = 'crawl' AND job IS NULL AND removing_at IS NULL;
    -- Jobs that were deleted and of which crawls are left: those expire, too.
    CREATE TABLE deleted_jobs (job TEXT PRIMARY KEY, deleted_at INTEGER NOT NULL) WITHOUT ROWID;
    -- The tasks of a run that is over. Only a removal says it in these words, so that no list is read by this index.
    CREATE INDEX tasks_ended ON tasks (stream) WHERE ended_at IS NOT NULL;
    CREATE INDEX answers_by_made ON answers (json_extract(answer, '$.id'));

    ALTER TABLE artifacts ADD COLUMN run INTEGER;
    UPDATE artifacts SET run = (SELECT s.run FROM tasks t JOIN streams s ON s.id = t.stream WHERE t.id = artifacts.task);
    CREATE INDEX artifacts_by_run ON artifacts (run, n);
    CREATE INDEX artifacts_by_hash ON artifacts (hash);

    -- Files of artifacts whose rows were removed: they go, unless another row names them.
    CREATE TABLE loose_files (hash BLOB PRIMARY KEY) WITHOUT ROWID;
  `);
}
