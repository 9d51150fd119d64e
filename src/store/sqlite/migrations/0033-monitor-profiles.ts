import type { DatabaseSync } from "node:sqlite";

/** What the pages of a job change on their own, beside what is known of each page. */
export const monitorProfiles = {
  version: 33,
  name: "monitor profiles",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE monitors ADD COLUMN profile TEXT");
  },
};
