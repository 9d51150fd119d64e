/** A claim counter distinguishes the outcomes of different claims of a task. */
export const claims = {
  version: 7,
  name: "claims",
  up: () => "ALTER TABLE tasks ADD COLUMN claims BIGINT NOT NULL DEFAULT 0",
};
