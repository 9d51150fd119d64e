import type { DatabaseSync } from "node:sqlite";

/** Who may own lanes: in SQLite only the engine; where several processes may, each has a lease. */
export const owners = {
  version: 10,
  name: "owners",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE owners (owner TEXT PRIMARY KEY, lease_until REAL NOT NULL) WITHOUT ROWID;
      INSERT INTO owners SELECT holder, 0 FROM engine WHERE holder IS NOT NULL;
    `);
  },
};
