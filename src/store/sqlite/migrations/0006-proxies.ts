import type { DatabaseSync } from "node:sqlite";

/** Proxies, and what keeps a run from its work. */
export const proxies = {
  version: 6,
  name: "proxies",
  up(_db: DatabaseSync): void {},
};
