import type { DatabaseSync } from "node:sqlite";

/** How often a task has been claimed tells the outcomes of one time from those of another. */
export const claims = {
  version: 16,
  name: "claims",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE tasks ADD COLUMN claims INTEGER NOT NULL DEFAULT 0");
  },
};
