/** The order in which waiting lanes get a slot. */

/** One point of priority is worth this much waiting time. */
export const PRIORITY_WORTH_MS = 1000;

/**
 * The sort key of a waiting lane, lowest first: its arrival time minus the worth of its priority. It does not change
 * while the lane waits, so a later lane overtakes it only by the difference in priority: no lane starves.
 */
export function queueOrder(arrivedMs: number, priority: number): number {
  return arrivedMs - priority * PRIORITY_WORTH_MS;
}
