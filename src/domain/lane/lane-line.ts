/** In which order lanes get their turns when there are more of them than places. */

/** A point of priority is worth as much as having waited for so long. */
export const PRIORITY_WORTH_MS = 1000;

/**
 * The place of a lane in the line, the lowest first: when it came, and earlier by what its priority is worth. It does not
 * change while the lane waits; so nobody waits longer than the difference in priority for whoever comes later.
 */
export function queueOrder(cameMs: number, priority: number): number {
  return cameMs - priority * PRIORITY_WORTH_MS;
}
