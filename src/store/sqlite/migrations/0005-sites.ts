import type { DatabaseSync } from "node:sqlite";

/** What sites are set to, how they are doing, and what they wait for. */
export const sites = {
  version: 5,
  name: "sites",
  up(_db: DatabaseSync): void {},
};
