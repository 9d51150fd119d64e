import type { DatabaseSync } from "node:sqlite";

/** Webhooks of runs, reusable pages, and temporary page runs. */
export const webhooks = {
  version: 14,
  name: "webhooks",
  up(db: DatabaseSync): void {
    db.exec(`
      -- What is written down whenever a page of it ends, as JSON: what a webhook is told of, under which mark pages are found again.
      ALTER TABLE runs ADD COLUMN told TEXT;
      ALTER TABLE runs ADD COLUMN brief INTEGER NOT NULL DEFAULT 0;
      DROP INDEX runs_expiring;
      CREATE INDEX runs_expiring ON runs (finished_at)
        WHERE (kind IN ('crawl', 'proxy_refresh') OR brief = 1) AND job IS NULL AND parent_run IS NULL AND removing_at IS NULL;

      -- next_try_at is there as long as there are calls to make. The address and what goes with it are sealed.
      CREATE TABLE webhooks (
        run INTEGER PRIMARY KEY, sealed BLOB NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0, next_try_at INTEGER, last_error TEXT
      );
      CREATE INDEX webhooks_due ON webhooks (next_try_at) WHERE next_try_at IS NOT NULL;
      -- AUTOINCREMENT: receivers know a call by its number, and are told of none twice.
      CREATE TABLE webhook_calls (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL, event TEXT NOT NULL, task INTEGER, created_at INTEGER NOT NULL
      );
      CREATE INDEX webhook_calls_by_run ON webhook_calls (run, n);

      CREATE TABLE reusable_pages (
        key BLOB PRIMARY KEY, run INTEGER NOT NULL, task INTEGER NOT NULL, got_at INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX reusable_pages_by_run ON reusable_pages (run);
    `);
  },
};
