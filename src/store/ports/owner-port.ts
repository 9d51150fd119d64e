import type { ProcessIdentity } from "../../base/machine.ts";

/** Who may own lanes at present. */
export interface OwnerRecord {
  owner: string;
  /** Null: it was written by an earlier version. */
  identity: ProcessIdentity | null;
}

/** Whose a lane is, and for how long at least. */
export interface LaneLease {
  lane: string;
  identity: ProcessIdentity | null;
  remainingMs: number;
}

export interface LaneWork {
  lane: string;
  /** 0 when something is ready now. */
  readyAt: number;
}

/** Store methods for lane owners, where several processes own lanes at once. */
export interface OwnerStore {
  /** Lets `owner` take lanes and borrow, until its lease ends; `heartbeat` prolongs it. Joining again does, too. */
  joinOwners(owner: string, ttlMs: number, identity?: ProcessIdentity): Promise<void>;
  /** Who owns these lanes; those without an owner are left out. */
  laneLeases(lanes: readonly string[]): Promise<LaneLease[]>;
  /** Those whose lease holds. */
  owners(): Promise<OwnerRecord[]>;
  /** Gives back the lanes of `owner` and what it borrowed; from now on it may take nothing. */
  leaveOwners(owner: string): Promise<void>;
  /** Gives back a lane on which `owner` does not work, whether it is its or not. */
  leaveLane(lane: string, owner: string): Promise<void>;
  /** How many owners there are, and over how many lanes with something to do they divide themselves. */
  laneShares(): Promise<{ owners: number; openLanes: number }>;
  /** What one lane has to do now or later; null: nothing, or somebody owns it, who knows. */
  laneWork(lane: string): Promise<LaneWork | null>;
  /**
   * How urgent the most urgent of what each lane has ready is, in the order of the lanes: items of the queue have a priority,
   * everything else counts as 0.
   */
  lanePriorities(lanes: readonly string[]): Promise<number[]>;
  /** How many owners have units of a budget, or wanted some and got none: an even share is what each may keep. */
  permitContenders(key: string): Promise<number>;
}
