/** Which process each owner is: of one on the same machine it is known at once that it is gone. */
export const ownerProcesses = {
  version: 11,
  name: "owner-processes",
  olderMayRun: true,
  up: () => `
    ALTER TABLE owners ADD COLUMN boot TEXT COLLATE "C", ADD COLUMN pid BIGINT, ADD COLUMN pid_start TEXT COLLATE "C";
  `,
};
