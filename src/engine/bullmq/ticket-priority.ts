import { PRIORITY_WORTH_MS } from "../../domain/lane/queue-order.ts";
import { QUEUE_ITEM_LIMITS } from "../../domain/lane/queue-item.ts";

const MAX_PRIORITY = QUEUE_ITEM_LIMITS.priority;
/** BullMQ's priorities end below twice this number. A round takes twelve days. */
const ROUND = 2 ** 20;
/** Tolerance for clocks that differ between machines. */
const SLACK = 600;

/** The highest priority of a ticket; 0 means "no priority" to BullMQ. */
export const HIGHEST = 1;

/** BullMQ's priority of a ticket, lowest number first. */
export function ticketPriority(at: number, priority: number): number {
  const worth = Math.min(MAX_PRIORITY, Math.max(-MAX_PRIORITY, priority));
  return HIGHEST + MAX_PRIORITY + (Math.floor(at / PRIORITY_WORTH_MS) % ROUND) - worth;
}

/** Whether a waiting ticket was issued in the last round: its number is not comparable with those of this one. */
export function isOfLastRound(number: number, now: number): boolean {
  return number > ticketPriority(now, -MAX_PRIORITY) + SLACK;
}
