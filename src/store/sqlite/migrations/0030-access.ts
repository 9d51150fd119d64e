import type { DatabaseSync } from "node:sqlite";

/** Keys of the API, the audit log, and who started a run. */
export const access = {
  version: 30,
  name: "access",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE api_keys (
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
        prefix TEXT NOT NULL, role TEXT NOT NULL, limits TEXT NOT NULL, requests_per_minute INTEGER, expires_at INTEGER,
        created_at INTEGER NOT NULL, created_by TEXT, last_used_at INTEGER, revoked_at INTEGER
      );

      CREATE TABLE audit_log (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, actor_kind TEXT NOT NULL, actor_id TEXT,
        actor_name TEXT NOT NULL, action TEXT NOT NULL, object_kind TEXT NOT NULL, object_id TEXT, ip TEXT,
        request_id TEXT, changes TEXT NOT NULL
      );
      CREATE INDEX audit_log_by_time ON audit_log (at);
      CREATE INDEX audit_log_by_object ON audit_log (object_id, seq) WHERE object_id IS NOT NULL;
      CREATE TRIGGER audit_log_append_only BEFORE UPDATE ON audit_log
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

      ALTER TABLE runs ADD COLUMN started_by TEXT;
    `);
  },
};
