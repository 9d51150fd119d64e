/** How lanes are divided among the processes that work on one store. */
export interface LaneShares {
  /** Processes that may own lanes now. */
  owners: number;
  /** Lanes with open work, of all owners. */
  openLanes: number;
}

/** How long a lane may go on while others wait for a turn. */
export const LANE_SLICE_MS = 2000;

/** The lanes of one process if all have equally many. */
export function evenLaneShare({ owners, openLanes }: LaneShares): number {
  return Math.max(1, Math.ceil(openLanes / Math.max(1, owners)));
}

/**
 * The most lanes one process takes: its even share, and one more. The one more is for a lane that has just been opened:
 * without it, it would wait until somebody has counted anew.
 */
export function laneShare(shares: LaneShares): number {
  return Math.ceil(shares.openLanes / Math.max(1, shares.owners)) + 1;
}

interface LaneTurn {
  /** How long this one has been at work. */
  forMs: number;
  /** Lanes that its process holds, without those that are on their way back. */
  held: number;
  /** Its even share, or fewer if it cannot work on so many: with the one more, some would keep what others lack. */
  most: number;
  /** Others wait for a turn. */
  othersWait: boolean;
}

/** Whether a lane is given back although it has work: its slice is over, and there is somebody to gain by it. */
export function shouldYieldLane({ forMs, held, most, othersWait }: LaneTurn): boolean {
  return forMs >= LANE_SLICE_MS && (held > most || (othersWait && held >= most));
}
