import type { DiskUse } from "../../ports/retention-port.ts";
import { type Context, rows } from "../kernel/context.ts";

/** File sizes, each content once, in batches of rows. */
export function storedBytes(
  { connection }: Context,
  { after, limit }: { after: number; limit: number },
): { bytes: number; last: number | null } {
  // Fewer than artifacts: counted at once, with the first batch.
  const fixtureBytes = () => {
    const row = connection
      .sql(
        `SELECT coalesce(sum(size), 0) AS bytes FROM (SELECT hash, max(size) AS size
           FROM (SELECT hash, size FROM fixtures UNION ALL SELECT hash, size FROM run_pages
             UNION ALL SELECT hash, size FROM monitor_states UNION ALL SELECT hash, size FROM monitor_files
             UNION ALL SELECT hash, size FROM tracked_pages) AS f
           WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.hash = f.hash) GROUP BY hash) AS files`,
      )
      .get();
    return Number((row as { bytes: number }).bytes);
  };
  const list = rows<{ n: number; size: number; first: number }>(
    connection
      .sql(
        `SELECT n, size, CASE WHEN n = (SELECT min(b.n) FROM artifacts b WHERE b.hash = a.hash) THEN 1 ELSE 0 END AS first
         FROM artifacts a WHERE n > ? ORDER BY n LIMIT ?`,
      )
      .all(after, limit),
  );
  const bytes = list.reduce((sum, { size, first }) => sum + (first === 1 ? size : 0), after === 0 ? fixtureBytes() : 0);
  return { bytes, last: list.length < limit ? null : (list.at(-1)?.n ?? null) };
}

interface UseRow {
  bytes: number;
  measured_at: number;
  warned_at: number | null;
}

const toRecord = (row: UseRow): DiskUse => ({
  bytes: row.bytes,
  measuredAt: row.measured_at,
  warnedAt: row.warned_at,
});

export function noteDiskUse(
  { connection }: Context,
  { bytes, isNear }: { bytes: number; isNear: boolean },
  now: number,
): DiskUse {
  return connection.write(() => {
    const row = connection
      .sql(
        `INSERT INTO disk_use (one, bytes, measured_at, warned_at) VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (one) DO UPDATE SET bytes = excluded.bytes, measured_at = excluded.measured_at,
           warned_at = CASE WHEN excluded.warned_at IS NULL THEN NULL ELSE coalesce(disk_use.warned_at, excluded.warned_at) END
         RETURNING bytes, measured_at, warned_at`,
      )
      .get(bytes, now, isNear ? now : null) as unknown as UseRow;
    return toRecord(row);
  });
}

export function readDiskUse({ connection }: Context): DiskUse | null {
  const row = connection.sql("SELECT bytes, measured_at, warned_at FROM disk_use").get() as UseRow | undefined;
  return row === undefined ? null : toRecord(row);
}
