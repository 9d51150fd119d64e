/**
 * Who made a version of a job, as far as the call says: the programs of this product name themselves in the header
 * `orb-client`, others are `api`. `upgrade` is a job as it was when versions began to be kept.
 */
export const JOB_AUTHORS = ["api", "cli", "dashboard", "mcp", "library", "repair", "upgrade"] as const;
export type JobAuthor = (typeof JOB_AUTHORS)[number];

/** How many versions of a job are kept, newest first. */
export const KEPT_VERSIONS = 100;
