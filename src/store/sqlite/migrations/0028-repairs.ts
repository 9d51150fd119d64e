import type { DatabaseSync } from "node:sqlite";

/** Pages of runs until their records are compared, and proposals that repair the rules of a job. */
export const repairs = {
  version: 28,
  name: "repairs",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE run_pages (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL, run INTEGER NOT NULL, task INTEGER NOT NULL, url TEXT NOT NULL, content_type TEXT,
        form TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, sealed INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX run_pages_by_task ON run_pages (task);
      CREATE INDEX run_pages_by_run ON run_pages (run, n);
      CREATE INDEX run_pages_by_job ON run_pages (job, run);
      CREATE INDEX run_pages_by_hash ON run_pages (hash);

      -- At most one per job; number tells a proposal from the one it replaced.
      CREATE TABLE repairs (
        job INTEGER PRIMARY KEY, number INTEGER NOT NULL, run INTEGER NOT NULL, run_id TEXT NOT NULL,
        made_at INTEGER NOT NULL, version INTEGER NOT NULL, state TEXT NOT NULL, decided_at INTEGER,
        proposal TEXT NOT NULL
      );

      -- 1: the run is degraded, and whether its rules can be repaired was not considered yet.
      ALTER TABLE run_health ADD COLUMN repair_due INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX run_health_repair_due ON run_health (run) WHERE repair_due = 1;
    `);
  },
};
