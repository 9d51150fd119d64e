/** The process of each owner: a dead one on the same machine is detected at once. */
export const ownerProcesses = {
  version: 11,
  name: "owner-processes",
  olderMayRun: true,
  up: () => `
    ALTER TABLE owners ADD COLUMN boot TEXT COLLATE "C", ADD COLUMN pid BIGINT, ADD COLUMN pid_start TEXT COLLATE "C";
  `,
};
