import type { DatabaseSync } from "node:sqlite";

/** Monitors: the last good state of every page, pages of runs until they are compared, and the changes that were found. */
export const monitors = {
  version: 29,
  name: "monitors",
  up(db: DatabaseSync): void {
    db.exec(`
      -- since_run: its pages are the first that later ones are compared with. changes: the number of the last one.
      CREATE TABLE monitors (
        job INTEGER PRIMARY KEY, rules TEXT NOT NULL, since_run INTEGER NOT NULL, since_at INTEGER NOT NULL,
        changes INTEGER NOT NULL
      );

      CREATE TABLE monitor_states (
        job INTEGER NOT NULL, key_hash BLOB NOT NULL, url TEXT NOT NULL, rules TEXT NOT NULL, hash BLOB NOT NULL,
        size INTEGER NOT NULL, sealed INTEGER NOT NULL, digest TEXT NOT NULL, profile TEXT, run INTEGER NOT NULL,
        read_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, scope_hash BLOB, redirected INTEGER NOT NULL,
        PRIMARY KEY (job, key_hash)
      ) WITHOUT ROWID;
      CREATE INDEX monitor_states_by_run ON monitor_states (job, run);
      CREATE INDEX monitor_states_by_hash ON monitor_states (hash);

      -- gone: the page answered 404 or 410, and has no content.
      CREATE TABLE monitor_pages (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL, run INTEGER NOT NULL, task INTEGER NOT NULL, key_hash BLOB NOT NULL, url TEXT NOT NULL,
        rules TEXT NOT NULL, gone INTEGER NOT NULL, hash BLOB, size INTEGER, again_hash BLOB, again_size INTEGER,
        sealed INTEGER NOT NULL, digest TEXT, scope_hash BLOB, redirected INTEGER NOT NULL, read_at INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX monitor_pages_by_task ON monitor_pages (task);
      CREATE INDEX monitor_pages_by_run ON monitor_pages (run, n);
      CREATE INDEX monitor_pages_by_job ON monitor_pages (job);
      CREATE INDEX monitor_pages_by_hash ON monitor_pages (hash) WHERE hash IS NOT NULL;
      CREATE INDEX monitor_pages_by_again ON monitor_pages (again_hash) WHERE again_hash IS NOT NULL;

      -- reported: the event of its run says it.
      CREATE TABLE monitor_changes (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL, number INTEGER NOT NULL, run INTEGER NOT NULL, run_id TEXT NOT NULL,
        generation INTEGER NOT NULL, key_hash BLOB NOT NULL, url TEXT NOT NULL, change TEXT NOT NULL, what TEXT NOT NULL,
        found_at INTEGER NOT NULL, before_at INTEGER, added INTEGER NOT NULL, removed INTEGER NOT NULL, share REAL NOT NULL,
        summary TEXT, reported INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX monitor_changes_by_number ON monitor_changes (job, number);
      CREATE UNIQUE INDEX monitor_changes_once ON monitor_changes (run, generation, key_hash);

      -- role: before, after or diff.
      CREATE TABLE monitor_files (
        change INTEGER NOT NULL, role TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, sealed INTEGER NOT NULL,
        PRIMARY KEY (change, role)
      ) WITHOUT ROWID;
      CREATE INDEX monitor_files_by_hash ON monitor_files (hash);

      -- Pages that are compared with the last time that they were read, with or without a job.
      CREATE TABLE tracked_pages (
        key_hash BLOB PRIMARY KEY, url TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, sealed INTEGER NOT NULL,
        read_at INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX tracked_pages_by_hash ON tracked_pages (hash);
      CREATE INDEX tracked_pages_by_time ON tracked_pages (read_at);

      -- 1: pages of the run wait to be compared.
      ALTER TABLE runs ADD COLUMN monitor_due INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX runs_monitor_due ON runs (n) WHERE monitor_due = 1;
    `);
  },
};
