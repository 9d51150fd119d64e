/** Who made a version of a job, and who decided about a repair. */
export const versionActors = {
  version: 24,
  name: "version-actors",
  // They would decide about a repair, and leave who decided about the one before.
  olderMayRun: false,
  up: () => `
    ALTER TABLE job_versions ADD COLUMN made_by TEXT COLLATE "C";
    ALTER TABLE repairs ADD COLUMN decided_by TEXT COLLATE "C"
  `,
};
