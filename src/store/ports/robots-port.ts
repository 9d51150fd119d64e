/** Store methods and records for robots.txt. */

/** The last valid robots.txt of an origin: a file, or that there is none. */
export interface RobotsCopy {
  origin: string;
  /** The site it belongs to: one site may have several origins. */
  site: string;
  /** The raw file; empty: there is none. */
  body: Uint8Array;
  /** Its Crawl-delay; null: none. */
  crawlDelayMs: number | null;
  fetchedAt: number;
}

export interface RobotsBounds {
  staleBefore: number;
  uselessBefore: number;
  mostBytes: number;
}

export interface RobotsStore {
  robots(origin: string): Promise<RobotsCopy | null>;
  /**
   * Replaces the origin's copy. Copies of the same site fetched before `staleBefore` lose their delay. Removes copies
   * fetched before `uselessBefore`, the oldest of very many, and those followed by `mostBytes` of newer ones.
   */
  keepRobots(copy: RobotsCopy, bounds: RobotsBounds): Promise<void>;
}
