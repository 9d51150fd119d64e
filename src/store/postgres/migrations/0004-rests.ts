/** How long the next owner of a lane must let its site rest. */
export const rests = {
  version: 4,
  name: "rests",
  up: () => `
      -- Until when its site is not to be asked again, as the owner said that gave the lane back in this epoch.
      ALTER TABLE lanes ADD COLUMN rest_until DOUBLE PRECISION;
      ALTER TABLE lanes ADD COLUMN rest_epoch BIGINT
  `,
};
