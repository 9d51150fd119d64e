import type { DatabaseSync } from "node:sqlite";

/** Proxies, and holds of runs. */
export const proxies = {
  version: 6,
  name: "proxies",
  up(db: DatabaseSync): void {
    db.exec(`
      -- What the run waits for, as JSON; nothing: NULL.
      ALTER TABLE runs ADD COLUMN hold TEXT;
      -- What it needs of proxies to begin, as JSON: how many, and how long it waits for them.
      ALTER TABLE runs ADD COLUMN proxies TEXT;
      -- How long and how often it was held without anything having ended in between, as JSON.
      ALTER TABLE runs ADD COLUMN fruitless TEXT;
      CREATE INDEX runs_held ON runs (json_extract(hold, '$.reason'), n) WHERE hold IS NOT NULL;

      CREATE TABLE proxies (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        scheme TEXT NOT NULL, hostname TEXT NOT NULL, port INTEGER NOT NULL,
        -- Who asks, as a hash, and with what, sealed.
        user_hash TEXT NOT NULL, password_hash TEXT NOT NULL, sealed BLOB,
        disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
        state TEXT NOT NULL DEFAULT 'unchecked' CHECK (state IN ('unchecked', 'usable', 'resting')),
        score REAL NOT NULL, latency_ms REAL,
        successes INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, blocks INTEGER NOT NULL DEFAULT 0,
        rest_until INTEGER NOT NULL DEFAULT 0, rest_step INTEGER NOT NULL DEFAULT 0, last_error TEXT,
        checked_at INTEGER, used_at INTEGER, created_at INTEGER NOT NULL,
        -- The number of its last change that others have to see.
        changed INTEGER NOT NULL DEFAULT 0
      );
      CREATE UNIQUE INDEX proxies_by_address ON proxies (scheme, hostname, port, user_hash);
      CREATE INDEX proxies_by_state ON proxies (disabled, state, n);
      CREATE INDEX proxies_by_use ON proxies (used_at);
      CREATE INDEX proxies_by_change ON proxies (changed);
      -- How a proxy does at each site, the newest few of them.
      CREATE TABLE proxy_sites (
        proxy INTEGER NOT NULL, site TEXT NOT NULL,
        successes REAL NOT NULL, failures REAL NOT NULL, blocks REAL NOT NULL, noted_at INTEGER NOT NULL,
        PRIMARY KEY (site, proxy)
      ) WITHOUT ROWID;
      CREATE INDEX proxy_sites_by_proxy ON proxy_sites (proxy, noted_at);
      -- The numbers of the newest change and of the newest removal.
      ALTER TABLE control ADD COLUMN proxies INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE control ADD COLUMN proxies_removed INTEGER NOT NULL DEFAULT 0;

      -- Checks of all proxies are runs; their newest is asked for often, and they are kept as long as crawls.
      CREATE INDEX runs_refreshes ON runs (n) WHERE kind = 'proxy_refresh' AND removing_at IS NULL;
      DROP INDEX runs_expiring;
      CREATE INDEX runs_expiring ON runs (finished_at)
        WHERE kind IN ('crawl', 'proxy_refresh') AND job IS NULL AND parent_run IS NULL AND removing_at IS NULL;
    `);
  },
};
