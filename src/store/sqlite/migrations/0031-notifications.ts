import type { DatabaseSync } from "node:sqlite";

/** Notification channels, what they are notified of, and their deliveries. */
export const notifications = {
  version: 31,
  name: "notifications",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE notification_channels (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, settings TEXT NOT NULL, sealed BLOB NOT NULL, target TEXT NOT NULL,
        rules TEXT NOT NULL, quiet TEXT, group_ms INTEGER NOT NULL, enabled INTEGER NOT NULL,
        -- No new message before.
        open_at INTEGER,
        failing_since INTEGER, last_error TEXT, last_error_at INTEGER, last_delivered_at INTEGER,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
      );
      CREATE TABLE notices (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        -- What makes two of them the same.
        key TEXT NOT NULL UNIQUE, type TEXT NOT NULL, subject TEXT NOT NULL, message TEXT NOT NULL, detail TEXT,
        site TEXT, job_id TEXT, job_name TEXT, run_id TEXT, created_at INTEGER NOT NULL
      );
      CREATE TABLE notification_deliveries (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        channel INTEGER NOT NULL, notice INTEGER NOT NULL,
        -- The first delivery of the same message; NULL: not sent yet.
        batch INTEGER,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
        tries INTEGER NOT NULL, next_try_at INTEGER,
        -- 1: it waited for the end of quiet hours.
        held INTEGER NOT NULL,
        last_error TEXT, created_at INTEGER NOT NULL, delivered_at INTEGER
      );
      CREATE INDEX notification_deliveries_due ON notification_deliveries (next_try_at, n) WHERE state = 'waiting';
      CREATE INDEX notification_deliveries_by_channel ON notification_deliveries (channel, n);
      CREATE INDEX notification_deliveries_waiting ON notification_deliveries (channel, next_try_at, n) WHERE state = 'waiting';
      CREATE INDEX notification_deliveries_by_batch ON notification_deliveries (batch) WHERE batch IS NOT NULL;
      CREATE INDEX notification_deliveries_by_notice ON notification_deliveries (notice);
    `);
  },
};
