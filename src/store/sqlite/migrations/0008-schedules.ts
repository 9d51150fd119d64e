import type { DatabaseSync } from "node:sqlite";

/** What became of the times of schedules. */
export const schedules = {
  version: 8,
  name: "schedules",
  up(_db: DatabaseSync): void {},
};
