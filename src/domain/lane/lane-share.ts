/** How lanes are distributed among the processes that share one store. */
export interface LaneShares {
  /** Processes that may own lanes now. */
  owners: number;
  /** Lanes with open work in the whole deployment. */
  openLanes: number;
}

/** How long a lane may work while others wait for a turn. */
export const LANE_SLICE_MS = 2000;

/** Lanes per process when distributed evenly. */
export function evenLaneShare({ owners, openLanes }: LaneShares): number {
  return Math.max(1, Math.ceil(openLanes / Math.max(1, owners)));
}

/**
 * The most lanes one process takes: its even share, and one more for a lane that was just opened, which would otherwise
 * wait for the next count.
 */
export function laneShare(shares: LaneShares): number {
  return Math.ceil(shares.openLanes / Math.max(1, shares.owners)) + 1;
}

interface LaneTurn {
  /** How long the lane has been at work. */
  forMs: number;
  /** Lanes that the process holds, without those that are yielding. */
  held: number;
  /** The even share of the process, or its capacity if smaller. Without the extra lane, which others may lack. */
  most: number;
  /** Others wait for a turn. */
  othersWait: boolean;
}

/** Whether a lane with work is released: its time slice is over, and another lane or process gains by it. */
export function shouldYieldLane({ forMs, held, most, othersWait }: LaneTurn): boolean {
  return forMs >= LANE_SLICE_MS && (held > most || (othersWait && held >= most));
}
