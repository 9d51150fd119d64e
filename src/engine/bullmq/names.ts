import { hash } from "node:crypto";
import { stepOfLane } from "../../domain/workflow/definition.ts";

/**
 * Queues and keys that all processes of a deployment share in Redis. Workflow steps may take hours: they have a queue of
 * their own, so that many of them do not keep sites waiting.
 */
export const LANE_QUEUES = ["sites", "steps"] as const;
export type LaneQueueName = (typeof LANE_QUEUES)[number];
export const QUEUES = [...LANE_QUEUES, "times"] as const;
export type QueueName = (typeof QUEUES)[number];

/** Not a lane: the process that gets this ticket runs due schedules and reissues it for the next time. */
export const TIMES = "times";

export function queueOf(lane: string): QueueName {
  if (lane === TIMES) return "times";
  return stepOfLane(lane) === null ? "sites" : "steps";
}

/**
 * A lane has one ticket: its id follows from the lane's name, hashed because BullMQ allows no colons and names may be
 * long. The id of a step is the lane's name itself, which the API shows as `engine_task_id`.
 */
export function ticketId(lane: string): string {
  if (stepOfLane(lane) !== null) return lane;
  return hash("sha256", lane, "base64url").slice(0, 22);
}

/** The channel that announces changed limits, pauses and run states. */
export const controlChannel = (prefix: string) => `${prefix}:control`;

/** The channel of one owner, for new work of its lanes. */
export const ownerChannel = (prefix: string, owner: string) => `${prefix}:owner:${owner}`;

/** BullMQ's score of a delayed job: its time, plus a number that orders jobs of one millisecond. */
const SCORES_PER_MS = 0x1000;
export const scoreOf = (time: number) => time * SCORES_PER_MS;
export const timeOfScore = (score: number) => Math.floor(score / SCORES_PER_MS);
