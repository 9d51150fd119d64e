import type { DatabaseSync } from "node:sqlite";

/** Which pages of a site failed in a row: a page that fails again is not another one. */
export const failedPages = {
  version: 17,
  name: "failed-pages",
  up(db: DatabaseSync): void {
    db.exec("ALTER TABLE sites ADD COLUMN breaker_pages TEXT");
  },
};
