import type { DatabaseSync } from "node:sqlite";

/** Jobs, sessions, facts of runs, and idempotent responses. */
export const jobs = {
  version: 2,
  name: "jobs",
  up(db: DatabaseSync): void {
    db.exec(`
      -- AUTOINCREMENT: ids are made of these numbers, and runs name their job after it was deleted.
      CREATE TABLE jobs (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT, kind TEXT NOT NULL, url TEXT NOT NULL, site TEXT NOT NULL,
        tags TEXT NOT NULL, recipe TEXT NOT NULL,
        next_at INTEGER,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
      );
      CREATE INDEX jobs_due ON jobs (next_at) WHERE next_at IS NOT NULL;

      ALTER TABLE runs ADD COLUMN job TEXT;
      ALTER TABLE runs ADD COLUMN name TEXT;
      ALTER TABLE runs ADD COLUMN url TEXT;
      ALTER TABLE runs ADD COLUMN site TEXT;
      ALTER TABLE runs ADD COLUMN facts TEXT;
      CREATE INDEX runs_by_job ON runs (job, n) WHERE job IS NOT NULL;
      CREATE INDEX runs_by_status ON runs (status, n);
      CREATE INDEX runs_by_kind ON runs (kind, n);
      -- What a sweep looks for: few, among any number of ended runs.
      CREATE INDEX runs_left_open ON runs (status, n) WHERE open_streams > 0;
      CREATE INDEX runs_by_site ON runs (site, n) WHERE site IS NOT NULL;

      -- Files may be replaced now, and their numbers are their public ids: AUTOINCREMENT gives none of them twice.
      CREATE TABLE artifacts_2 (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        task INTEGER NOT NULL, ordinal INTEGER NOT NULL,
        hash BLOB NOT NULL, size INTEGER NOT NULL, content_type TEXT, url TEXT NOT NULL, created_at INTEGER NOT NULL,
        role TEXT
      );
      INSERT INTO artifacts_2 SELECT n, task, ordinal, hash, size, content_type, url, created_at, NULL FROM artifacts ORDER BY n;
      DROP TABLE artifacts;
      ALTER TABLE artifacts_2 RENAME TO artifacts;
      CREATE UNIQUE INDEX artifacts_by_task ON artifacts (task, ordinal);

      ALTER TABLE results ADD COLUMN run INTEGER;
      UPDATE results SET run = (SELECT s.run FROM tasks t JOIN streams s ON s.id = t.stream WHERE t.id = results.task);
      CREATE INDEX results_by_run ON results (run, n);

      -- Among ten thousand runs that wait for one site, a claim finds the next ones without looking at the others.
      CREATE INDEX streams_ready ON streams (lane, run) WHERE queued > 0;

      ALTER TABLE sites ADD COLUMN learned TEXT;

      CREATE TABLE sessions (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT, origin TEXT NOT NULL, holds TEXT NOT NULL, sealed BLOB NOT NULL,
        check_url TEXT, health TEXT, created_at INTEGER NOT NULL
      );
      CREATE INDEX sessions_by_origin ON sessions (origin, n);

      -- What a call under a key of the caller's answered, so that its repetition gets the same.
      CREATE TABLE answers (
        key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, answer TEXT NOT NULL, created_at INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX answers_by_age ON answers (created_at);
    `);
  },
};
