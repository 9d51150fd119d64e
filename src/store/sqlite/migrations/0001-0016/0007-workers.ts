import type { DatabaseSync } from "node:sqlite";

/** Worker processes. */
export const workers = {
  version: 7,
  name: "workers",
  up(db: DatabaseSync): void {
    db.exec(`
      -- heard_lease counts on the machine's monotonic clock: a clock that is set loses nobody.
      CREATE TABLE workers (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        machine TEXT NOT NULL, boot TEXT NOT NULL, pid INTEGER NOT NULL, pid_start TEXT NOT NULL,
        version TEXT NOT NULL, command TEXT NOT NULL, max_workers INTEGER NOT NULL, heartbeat_ms INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('working', 'draining', 'drained', 'lost', 'stopped')),
        pulse TEXT,
        drain_asked INTEGER NOT NULL DEFAULT 0,
        ping INTEGER NOT NULL DEFAULT 0, ping_answered INTEGER NOT NULL DEFAULT 0,
        started_at INTEGER NOT NULL, heard_at INTEGER NOT NULL, heard_lease REAL NOT NULL, stopped_at INTEGER
      );
      CREATE INDEX workers_by_state ON workers (state, n);

      -- Tasks that are to end without a result. Those that somebody has in hand stay here until they have ended.
      CREATE TABLE task_stops (task INTEGER PRIMARY KEY, asked_at INTEGER NOT NULL);
    `);
  },
};
