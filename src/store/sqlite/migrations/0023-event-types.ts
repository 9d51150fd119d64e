import type { DatabaseSync } from "node:sqlite";
import { eventTypeOfMessage } from "../../sql/runs/event-type-of-message.ts";

/** Events have a type. */
export const eventTypes = {
  version: 23,
  name: "event-types",
  up(db: DatabaseSync): void {
    db.exec(`
      ALTER TABLE events ADD COLUMN type TEXT;
      UPDATE events SET type = ${eventTypeOfMessage("level", "message")};
    `);
  },
};
