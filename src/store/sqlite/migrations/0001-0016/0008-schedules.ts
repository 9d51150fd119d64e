import type { DatabaseSync } from "node:sqlite";

/** Schedule occurrences and their outcomes. */
export const schedules = {
  version: 8,
  name: "schedules",
  up(db: DatabaseSync): void {
    db.exec(`
      -- next_slot is the time as the schedule says it, next_at that time and what chance adds to it.
      ALTER TABLE jobs ADD COLUMN next_slot INTEGER;
      ALTER TABLE jobs ADD COLUMN schedule_paused_at INTEGER;
      UPDATE jobs SET next_slot = next_at;

      -- Of many missed in a row there is one row, from the first (at) to the last (until).
      CREATE TABLE slots (
        job INTEGER NOT NULL, at INTEGER NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL,
        outcome TEXT NOT NULL, run TEXT, message TEXT, noted_at INTEGER NOT NULL,
        PRIMARY KEY (job, at)
      ) WITHOUT ROWID;
      CREATE TABLE slot_counts (
        job INTEGER NOT NULL, outcome TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (job, outcome)
      ) WITHOUT ROWID;
    `);
  },
};
