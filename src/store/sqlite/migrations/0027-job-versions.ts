import type { DatabaseSync } from "node:sqlite";

/** Every change of a job is a version with its definition. */
export const jobVersions = {
  version: 27,
  name: "job-versions",
  up(db: DatabaseSync): void {
    db.exec(`
      -- Whether a repair of its rules that is beyond doubt is accepted without a person.
      ALTER TABLE jobs ADD COLUMN auto_repair INTEGER NOT NULL DEFAULT 0;
      CREATE TABLE job_versions (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL, version INTEGER NOT NULL, made_at INTEGER NOT NULL, author TEXT NOT NULL,
        -- The version whose definition it took; NULL: none.
        restored INTEGER,
        name TEXT, kind TEXT NOT NULL, url TEXT NOT NULL, site TEXT NOT NULL, tags TEXT NOT NULL, recipe TEXT NOT NULL,
        keep_runs INTEGER, keep_days INTEGER, on_degraded TEXT, fixtures INTEGER, auto_repair INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX job_versions_by_job ON job_versions (job, version);
      INSERT INTO job_versions (job, version, made_at, author, name, kind, url, site, tags, recipe,
          keep_runs, keep_days, on_degraded, fixtures, auto_repair)
        SELECT n, 1, updated_at, 'upgrade', name, kind, url, site, tags, recipe,
          keep_runs, keep_days, on_degraded, fixtures, 0 FROM jobs ORDER BY n;
    `);
  },
};
