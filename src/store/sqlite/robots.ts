import type { RobotsBounds, RobotsCopy } from "../robots-port.ts";
import type { Context } from "./context.ts";

const MOST_COPIES = 50_000;
const REMOVED_AT_ONCE = 100;
const BYTES_SO_FAR = "(SELECT bytes_so_far FROM robots ORDER BY n DESC LIMIT 1)";

export function readRobots({ connection }: Context, origin: string): RobotsCopy | null {
  const row = connection
    .sql("SELECT origin, site, body, crawl_delay_ms, got_at FROM robots WHERE origin = ?")
    .get(origin) as
    | { origin: string; site: string; body: Uint8Array; crawl_delay_ms: number | null; got_at: number }
    | undefined;
  if (row === undefined) return null;
  const { site, body, crawl_delay_ms: crawlDelayMs, got_at: gotAt } = row;
  return { origin, site, body, crawlDelayMs, gotAt };
}

export function keepRobots(
  { connection }: Context,
  copy: RobotsCopy,
  { staleBefore, uselessBefore, mostBytes }: RobotsBounds,
): void {
  const { origin, site, body, crawlDelayMs, gotAt } = copy;
  connection.write(() => {
    connection
      .sql(
        `REPLACE INTO robots (origin, site, body, crawl_delay_ms, got_at, bytes_so_far)
         VALUES (?, ?, ?, ?, ?, ? + coalesce(${BYTES_SO_FAR}, 0))`,
      )
      .run(origin, site, body, crawlDelayMs, gotAt, body.length);
    // What http:// said a week ago does not count against what https:// says now.
    connection
      .sql("UPDATE robots SET crawl_delay_ms = NULL WHERE site = ? AND crawl_delay_ms IS NOT NULL AND got_at < ?")
      .run(site, staleBefore);
    // A copy that is replaced gets a new number, so the oldest have the lowest.
    connection
      .sql(
        `DELETE FROM robots WHERE n IN (SELECT n FROM robots ORDER BY n LIMIT ${REMOVED_AT_ONCE})
           AND (got_at < ? OR n <= (SELECT max(n) FROM robots) - ${MOST_COPIES} OR bytes_so_far <= ${BYTES_SO_FAR} - ?)`,
      )
      .run(uselessBefore, mostBytes);
  });
}
