/**
 * Events have a type. Those that are there keep none, and older programs go on writing such: `EVENT_TYPE` tells it when they
 * are read. (An update of 500,000 events was measured at 54 s on a busy machine, during which nobody can read or write them.)
 */
export const eventTypes = {
  version: 15,
  name: "event-types",
  olderMayRun: true,
  up: () => 'ALTER TABLE events ADD COLUMN type TEXT COLLATE "C"',
};
