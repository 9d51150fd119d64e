/** The oldest program version that may use this newer schema. */
export const usableFrom = {
  version: 12,
  name: "usable-from",
  olderMayRun: true,
  up: () => "ALTER TABLE schema_version ADD COLUMN usable_from BIGINT",
};
