import type { DatabaseSync } from "node:sqlite";

/** Retention: kept runs, policies of jobs, and bulk deletions. */
export const retention = {
  version: 19,
  name: "retention",
  up(db: DatabaseSync): void {
    db.exec(`
      -- 1: somebody asked to keep it, and no policy removes it.
      ALTER TABLE runs ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
      UPDATE runs SET brief = 1 WHERE kind = 'proxy_refresh';
      -- NULL: as the configuration says; 0: no limit.
      ALTER TABLE jobs ADD COLUMN keep_runs INTEGER;
      ALTER TABLE jobs ADD COLUMN keep_days INTEGER;

      DROP INDEX runs_expiring;
      CREATE INDEX runs_expiring ON runs (brief, finished_at)
        WHERE job IS NULL AND parent_run IS NULL AND removing_at IS NULL AND kept = 0 AND finished_at IS NOT NULL;
      CREATE INDEX runs_expiring_of_job ON runs (job, finished_at, n)
        WHERE job IS NOT NULL AND parent_run IS NULL AND removing_at IS NULL AND kept = 0 AND finished_at IS NOT NULL;
      -- Deleted jobs have runs of every kind left, which the general policy removes.
      INSERT INTO deleted_jobs SELECT job, max(coalesce(finished_at, created_at)) FROM runs
        WHERE job IS NOT NULL AND removing_at IS NULL AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = runs.job)
        GROUP BY job ON CONFLICT (job) DO NOTHING;

      -- Deletions of many runs: what they are about, and how far they have come.
      CREATE TABLE run_deletions (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE, filter TEXT NOT NULL,
        -- Runs that are newer are not meant; those up to done_to have been looked at.
        upto INTEGER NOT NULL, done_to INTEGER NOT NULL DEFAULT 0,
        matched INTEGER NOT NULL, deleted INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL, finished_at INTEGER
      );
      -- What the database and the files took when somebody looked, and since when that is too near to the budget.
      CREATE TABLE disk_use (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        bytes INTEGER NOT NULL, measured_at INTEGER NOT NULL, warned_at INTEGER
      );
      CREATE INDEX run_deletions_open ON run_deletions (n) WHERE finished_at IS NULL;
    `);
  },
};
