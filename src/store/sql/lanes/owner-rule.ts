/**
 * Whether a lane may be taken. A heartbeat extends the lease of its owner at once; that of a lane that is being written
 * follows later. The parameters are the time, twice.
 */
export const IS_FREE = `(owner IS NULL OR (lease_until < ? AND NOT EXISTS
  (SELECT 1 FROM owners o WHERE o.owner = lanes.owner AND o.lease_until >= ?)))`;

/** Who may own lanes and hold permits. With a single engine, only the engine. */
export const IS_OWNER = "EXISTS (SELECT 1 FROM owners WHERE owner = ?)";
