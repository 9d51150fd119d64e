import type { DatabaseSync } from "node:sqlite";

/** Proxies, and what keeps a run from its work. */
export const proxies = {
  version: 6,
  name: "proxies",
  up(db: DatabaseSync): void {
    db.exec(`
      -- What the run waits for, as JSON; nothing: NULL.
      ALTER TABLE runs ADD COLUMN hold TEXT;
      CREATE INDEX runs_held ON runs (json_extract(hold, '$.reason'), n) WHERE hold IS NOT NULL;
    `);
  },
};
