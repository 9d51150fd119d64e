import type { DatabaseSync } from "node:sqlite";

/** The processes that do the work. */
export const workers = {
  version: 7,
  name: "workers",
  up(_db: DatabaseSync): void {},
};
