import { PRIORITY_WORTH_MS } from "../../domain/lane/queue-order.ts";
import { QUEUE_ITEM_LIMITS } from "../../domain/lane/queue-item.ts";

const MOST = QUEUE_ITEM_LIMITS.priority;
/** BullMQ's numbers end below twice as much. A round takes twelve days. */
const ROUND = 2 ** 20;
/** Clocks of several machines differ. */
const SLACK = 600;

/** The number of a ticket that goes before all others; to BullMQ, none at all would be before it. */
export const FIRST_OF_ALL = 1;

/** BullMQ's priority of a ticket, lowest first, in steps of one point of priority. */
export function ticketPriority(at: number, priority: number): number {
  const worth = Math.min(MOST, Math.max(-MOST, priority));
  return FIRST_OF_ALL + MOST + (Math.floor(at / PRIORITY_WORTH_MS) % ROUND) - worth;
}

/** Whether a ticket that is in line has come in the last round: then its number says nothing in this one. */
export function isOfLastRound(number: number, now: number): boolean {
  return number > ticketPriority(now, -MOST) + SLACK;
}
