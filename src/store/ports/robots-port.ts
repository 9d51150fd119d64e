/** Store methods and records for robots.txt. */

/** The last good robots.txt of an origin: an answer that was a file, or that there is none. */
export interface RobotsCopy {
  origin: string;
  /** Of whose records it is a part: one site may have several origins. */
  site: string;
  /** As it came; empty: there is none. */
  body: Uint8Array;
  /** What it asks of us between two requests; null: nothing. */
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
   * Keeps a copy instead of the one before. Copies got before `staleBefore` are past believing: those of the same site
   * ask for no delay any more. Copies got before `uselessBefore` are removed, and so are the oldest of very many, and
   * those since which `mostBytes` of others have come.
   */
  keepRobots(copy: RobotsCopy, bounds: RobotsBounds): Promise<void>;
}
