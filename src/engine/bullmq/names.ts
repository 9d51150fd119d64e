import { hash } from "node:crypto";
import { stepOfLane } from "../../domain/workflow/definition.ts";

/**
 * The words that all processes of a deployment use in Redis. Steps of workflows may take hours: they stand in a line of
 * their own, so that a long list of them does not keep sites waiting.
 */
export const LANE_LINES = ["sites", "steps"] as const;
export type LaneLine = (typeof LANE_LINES)[number];
export const LINES = [...LANE_LINES, "times"] as const;
export type Line = (typeof LINES)[number];

/** Not a lane: the process that gets this ticket does what is due by schedule, and reissues it for the next time. */
export const TIMES = "times";

export function lineOf(lane: string): Line {
  if (lane === TIMES) return "times";
  return stepOfLane(lane) === null ? "sites" : "steps";
}

/**
 * A lane has one ticket: its id follows from the lane's name. BullMQ takes no colons in it, and names may be long. That of a
 * step is the name itself, by which the API finds the step (`engine_task_id`).
 */
export function ticketId(lane: string): string {
  if (stepOfLane(lane) !== null) return lane;
  return hash("sha256", lane, "base64url").slice(0, 22);
}

/** The channel that announces changed limits, pauses and run states. */
export const controlChannel = (prefix: string) => `${prefix}:control`;

/** The channel of one owner, for new work of its lanes. */
export const ownerChannel = (prefix: string, owner: string) => `${prefix}:owner:${owner}`;

/** BullMQ's score of a delayed job: its time, and a number that keeps those of one millisecond apart. */
const SCORES_PER_MS = 0x1000;
export const scoreOf = (time: number) => time * SCORES_PER_MS;
export const timeOfScore = (score: number) => Math.floor(score / SCORES_PER_MS);
