/** How often a task has been claimed tells the outcomes of one time from those of another. */
export const claims = {
  version: 7,
  name: "claims",
  up: () => "ALTER TABLE tasks ADD COLUMN claims BIGINT NOT NULL DEFAULT 0",
};
