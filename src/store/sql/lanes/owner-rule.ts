/**
 * Whether a lane may be taken. A heartbeat extends the lease of its owner at once; that of a lane that is being written
 * follows later. The parameters are the time, twice.
 */
export const IS_FREE = isFree("lanes", "?");

/** The same with another name of the lane, and of the parameter. */
export function isFree(lane: string, now: string): string {
  return `(${lane}.owner IS NULL OR (${lane}.lease_until < ${now} AND NOT EXISTS
    (SELECT 1 FROM owners o WHERE o.owner = ${lane}.owner AND o.lease_until >= ${now})))`;
}

/** Who may own lanes and hold permits. With a single engine, only the engine. */
export const IS_OWNER = "EXISTS (SELECT 1 FROM owners WHERE owner = ?)";
