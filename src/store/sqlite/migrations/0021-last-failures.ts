import type { DatabaseSync } from "node:sqlite";

/** The last failure of a site, shown while work waits for it. */
export const lastFailures = {
  version: 21,
  name: "last-failures",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE sites ADD COLUMN last_failure TEXT");
  },
};
