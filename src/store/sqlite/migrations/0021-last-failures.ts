import type { DatabaseSync } from "node:sqlite";

/** What a site did last that made it wait: whoever waits for it is told. */
export const lastFailures = {
  version: 21,
  name: "last-failures",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE sites ADD COLUMN last_failure TEXT");
  },
};
