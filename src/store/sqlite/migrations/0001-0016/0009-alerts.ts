import type { DatabaseSync } from "node:sqlite";

/** Alerts for operators. */
export const alerts = {
  version: 9,
  name: "alerts",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE alerts (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        -- What makes two of them the same.
        key TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL, subject TEXT NOT NULL, message TEXT NOT NULL, detail TEXT,
        delivery TEXT NOT NULL CHECK (delivery IN ('waiting', 'delivered', 'given_up', 'off')),
        tries INTEGER NOT NULL DEFAULT 0, next_try_at INTEGER, last_error TEXT,
        created_at INTEGER NOT NULL, delivered_at INTEGER
      );
      CREATE INDEX alerts_due ON alerts (kind = 'run_failed', next_try_at, n) WHERE delivery = 'waiting';
      CREATE INDEX alerts_by_kind ON alerts (kind, n);
      -- What happened before is no news.
      INSERT INTO meta SELECT 'alerts_seen', coalesce(max(n), 0) FROM events;
    `);
  },
};
