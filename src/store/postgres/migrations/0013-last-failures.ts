/** What a site did last that made it wait: whoever waits for it is told. */
export const lastFailures = {
  version: 13,
  name: "last-failures",
  olderMayRun: true,
  up: () => 'ALTER TABLE sites ADD COLUMN last_failure TEXT COLLATE "C"',
};
