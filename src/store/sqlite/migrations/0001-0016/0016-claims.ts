import type { DatabaseSync } from "node:sqlite";

/** A claim counter distinguishes the outcomes of different claims of a task. */
export const claims = {
  version: 16,
  name: "claims",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE tasks ADD COLUMN claims INTEGER NOT NULL DEFAULT 0");
  },
};
