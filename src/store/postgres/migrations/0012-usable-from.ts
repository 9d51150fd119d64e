/** Which programs may use the schema, though it is newer than they are: those that know at least this version. */
export const usableFrom = {
  version: 12,
  name: "usable-from",
  olderMayRun: true,
  up: () => "ALTER TABLE schema_version ADD COLUMN usable_from BIGINT",
};
