import type { ProcessIdentity } from "../../base/machine.ts";

/** A process that may own lanes. */
export interface OwnerRecord {
  owner: string;
  /** Null: written by an earlier version. */
  identity: ProcessIdentity | null;
}

/** The owner of a lane, and how long its lease lasts. */
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
  /** Lets `owner` take lanes and permits until its lease ends; `heartbeat` and joining again renew it. */
  joinOwners(owner: string, ttlMs: number, identity?: ProcessIdentity): Promise<void>;
  /** Owners of these lanes; lanes without one are omitted. */
  laneLeases(lanes: readonly string[]): Promise<LaneLease[]>;
  /** Owners with a valid lease. */
  owners(): Promise<OwnerRecord[]>;
  /** Releases the lanes and permits of `owner`, which may take nothing from now on. */
  leaveOwners(owner: string): Promise<void>;
  /** Releases a lane that `owner` does not work on; does nothing if it is not the owner. */
  leaveLane(lane: string, owner: string): Promise<void>;
  /** Owners, and lanes with open work that they share. */
  laneShares(): Promise<{ owners: number; openLanes: number }>;
  /** Present or future work of a lane; null: none, or it has an owner, which knows. */
  laneWork(lane: string): Promise<LaneWork | null>;
  /**
   * Highest priority among each lane's ready tasks, in the order of the lanes: queue items have a priority, everything
   * else counts as 0.
   */
  lanePriorities(lanes: readonly string[]): Promise<number[]>;
  /** Owners that hold permits of a budget or wait for some: each may keep an even share. */
  permitContenders(key: string): Promise<number>;
}
