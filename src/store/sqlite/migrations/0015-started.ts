import type { DatabaseSync } from "node:sqlite";

/** Runs that people and schedules have started are listed without passing over all that steps of workflows have. */
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
