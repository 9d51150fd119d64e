import type { DatabaseSync } from "node:sqlite";

/** The failed pages that a breaker counts: a page that fails again counts once. */
export const failedPages = {
  version: 17,
  name: "failed-pages",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE sites ADD COLUMN breaker_pages TEXT");
  },
};
