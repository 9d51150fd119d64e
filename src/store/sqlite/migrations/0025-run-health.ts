import type { DatabaseSync } from "node:sqlite";

/** Profiles of the records of a job's runs, and what got worse. */
export const runHealth = {
  version: 25,
  name: "run-health",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE run_health (
        run INTEGER PRIMARY KEY, job TEXT NOT NULL, generation INTEGER NOT NULL, ended_at INTEGER NOT NULL,
        -- Hash of what decides about fields and records: only runs of the same rules are compared.
        rules TEXT NOT NULL, profile TEXT NOT NULL,
        -- NULL: nothing got worse, or too few runs are known.
        reasons TEXT,
        -- How many earlier runs; and 1: later runs are compared with it.
        compared_with INTEGER NOT NULL, baseline INTEGER NOT NULL, accepted_at INTEGER
      );
      CREATE INDEX run_health_by_job ON run_health (job, run);

      -- The generation whose records were profiled. Runs from before have no profile.
      ALTER TABLE runs ADD COLUMN health_generation INTEGER NOT NULL DEFAULT 0;
      UPDATE runs SET health_generation = generation WHERE finished_at IS NOT NULL;
      CREATE INDEX runs_without_health ON runs (n) WHERE health_generation < generation AND job IS NOT NULL
        AND kind IN ('page', 'crawl') AND status IN ('completed', 'partial') AND removing_at IS NULL;
      ALTER TABLE jobs ADD COLUMN on_degraded TEXT;
      INSERT INTO meta VALUES ('degraded_runs', '0');
    `);
  },
};
