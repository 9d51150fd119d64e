/**
 * How to go about runs that others have locked: `try` leaves them out, `waitMs` waits so long for them, and then fails as
 * `database_busy`. Otherwise they are waited for as long as for any lock. Without meaning on SQLite.
 */
export type Turn = "try" | { waitMs: number };

/** Which of a lane's tasks to claim. */
export interface ClaimOptions {
  turn?: Turn;
  limit: number;
  /** How many the lane can start soon: a crawl of several sites grants it no more of its last pages. */
  soon?: number;
  /** Resolvers without free permits: their tasks stay queued, so that they do not fill the window. */
  withoutResolvers?: readonly string[];
  /**
   * How many tasks of each resolver may be claimed; null: any number. The others wait for a permit. Queue items of
   * resolvers that are missing here are not claimed: the caller looks up their limit first.
   */
  resolverRoom?: Readonly<Record<string, number | null>>;
  /** How many tasks of all limited resolvers together: claimed tasks that cannot start would look in progress. */
  limitedRoom?: number;
  /** Tasks of runs with a time limit stay in the queue. */
  withoutDeadline?: boolean;
}
