import type { DatabaseSync } from "node:sqlite";

/** What operators are to be told. */
export const alerts = {
  version: 9,
  name: "alerts",
  up(_db: DatabaseSync): void {},
};
