import type { DatabaseSync } from "node:sqlite";

/** How long the next owner of a lane must let its site rest; written where several processes share the lanes. */
export const rests = {
  version: 13,
  name: "rests",
  up(db: DatabaseSync): void {
    db.exec(`
      -- Until when its site is not to be asked again, as the owner said that gave the lane back in this epoch.
      ALTER TABLE lanes ADD COLUMN rest_until REAL;
      ALTER TABLE lanes ADD COLUMN rest_epoch INTEGER;
    `);
  },
};
