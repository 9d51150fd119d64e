import type { DatabaseSync } from "node:sqlite";

/** Who made a version of a job, and who decided about a repair. */
export const versionActors = {
  version: 32,
  name: "version-actors",
  up(db: DatabaseSync): void {
    db.exec(`
      -- JSON, as in runs.started_by; NULL: not known.
      ALTER TABLE job_versions ADD COLUMN made_by TEXT;
      ALTER TABLE repairs ADD COLUMN decided_by TEXT;
    `);
  },
};
