/**
 * Events have a type. Existing events stay without, and older programs keep writing such: `EVENT_TYPE` derives it on
 * read. (An update of 500,000 events took 54 s on a busy machine, and blocks all reads and writes of them.)
 */
export const eventTypes = {
  version: 15,
  name: "event-types",
  olderMayRun: true,
  up: () => 'ALTER TABLE events ADD COLUMN type TEXT COLLATE "C"',
};
