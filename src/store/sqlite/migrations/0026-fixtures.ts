import type { DatabaseSync } from "node:sqlite";

/** Pages that jobs keep with the records they gave, to test changed rules on. */
export const fixtures = {
  version: 26,
  name: "fixtures",
  up(db: DatabaseSync): void {
    db.exec(`
      -- How many; NULL: as many as by default, 0: none.
      ALTER TABLE jobs ADD COLUMN fixtures INTEGER;
      CREATE TABLE fixtures (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL, run TEXT NOT NULL, url TEXT NOT NULL, fetched_at INTEGER NOT NULL,
        content_type TEXT, form TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
        -- Fingerprint of the rules that gave the records, and how many fields of them have a value.
        rules TEXT NOT NULL, filled INTEGER NOT NULL, record_count INTEGER NOT NULL,
        -- JSON; where sealed is 1, base64 of encrypted JSON, and the file is encrypted, too.
        records TEXT NOT NULL, sealed INTEGER NOT NULL
      );
      CREATE INDEX fixtures_by_job ON fixtures (job);
      CREATE INDEX fixtures_by_hash ON fixtures (hash);
    `);
  },
};
