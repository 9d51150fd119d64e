import type { DatabaseSync } from "node:sqlite";

/** Lists of runs without a parent skip the child runs of workflows. */
export const started = {
  version: 15,
  name: "started",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE INDEX runs_started ON runs (n) WHERE parent_run IS NULL;
      CREATE INDEX runs_started_by_status ON runs (status, n) WHERE parent_run IS NULL;
    `);
  },
};
