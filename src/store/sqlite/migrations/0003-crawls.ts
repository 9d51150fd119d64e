import type { DatabaseSync } from "node:sqlite";

/** Runs that grow while they run: how many pages they know, how long they ran, and what failed of them. */
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
      CREATE INDEX runs_timed ON runs (running_since) WHERE time_limit_ms IS NOT NULL AND running_since IS NOT NULL;
      CREATE INDEX runs_waiting ON runs (kind, n) WHERE status = 'queued';

      -- What failed of a crawl, counted in the transaction in which it failed.
      CREATE TABLE run_errors (
        run INTEGER NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL,
        count INTEGER NOT NULL, example_task INTEGER NOT NULL, example_message TEXT NOT NULL,
        PRIMARY KEY (run, code, reason)
      ) WITHOUT ROWID;

      -- Tasks that serve a run but are none of its pages, such as its sitemaps, are counted apart from them.
      ALTER TABLE streams ADD COLUMN aside INTEGER NOT NULL DEFAULT 0 CHECK (aside IN (0, 1));
      DROP INDEX streams_by_run;
      CREATE UNIQUE INDEX streams_by_run ON streams (run, lane, resolver, aside);
    `);
  },
};
