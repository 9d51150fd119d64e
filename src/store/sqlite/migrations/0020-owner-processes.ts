import type { DatabaseSync } from "node:sqlite";

/** The process of each owner: a dead one on the same machine is detected at once. */
export const ownerProcesses = {
  version: 20,
  name: "owner-processes",
  up(db: DatabaseSync): void {
    db.exec(`
      ALTER TABLE owners ADD COLUMN boot TEXT;
      ALTER TABLE owners ADD COLUMN pid INTEGER;
      ALTER TABLE owners ADD COLUMN pid_start TEXT;
      UPDATE owners SET (boot, pid, pid_start) = (SELECT boot, pid, pid_start FROM engine);
    `);
  },
};
