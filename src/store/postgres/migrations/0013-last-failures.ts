/** The last failure of a site, shown while work waits for it. */
export const lastFailures = {
  version: 13,
  name: "last-failures",
  olderMayRun: true,
  up: () => 'ALTER TABLE sites ADD COLUMN last_failure TEXT COLLATE "C"',
};
