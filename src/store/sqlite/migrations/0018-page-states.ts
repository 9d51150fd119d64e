import type { DatabaseSync } from "node:sqlite";

/** Page states that saved crawls keep from run to run, and the changes that each run found. */
export const pageStates = {
  version: 18,
  name: "page-states",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE page_states (
        job INTEGER NOT NULL, key_hash BLOB NOT NULL, url TEXT NOT NULL,
        -- Of what the page said, when the run came to it last.
        digest BLOB NOT NULL, run INTEGER NOT NULL,
        -- Of what decides which pages the run could come to; and whether only a redirect led to this one.
        reach BLOB NOT NULL, moved INTEGER NOT NULL,
        PRIMARY KEY (job, key_hash)
      ) WITHOUT ROWID;

      CREATE TABLE page_changes (
        run INTEGER NOT NULL, key_hash BLOB NOT NULL, change INTEGER NOT NULL, url TEXT NOT NULL,
        PRIMARY KEY (run, change, key_hash)
      ) WITHOUT ROWID;
    `);
  },
};
