import type { RobotsBounds, RobotsCopy } from "../../ports/robots-port.ts";
import type { Context } from "../kernel/context.ts";
import { updateTargetShardCount } from "../lanes/shards.ts";
import { readSite } from "./sites.ts";

const MAX_COPIES = 50_000;
const REMOVE_BATCH = 100;
const CUMULATIVE_BYTES = "(SELECT cumulative_bytes FROM robots ORDER BY n DESC LIMIT 1)";

export function readRobots({ connection }: Context, origin: string): RobotsCopy | null {
  const row = connection
    .sql("SELECT origin, site, body, crawl_delay_ms, fetched_at FROM robots WHERE origin = ?")
    .get(origin) as
    | { origin: string; site: string; body: Uint8Array; crawl_delay_ms: number | null; fetched_at: number }
    | undefined;
  if (row === undefined) return null;
  const { site, body, crawl_delay_ms: crawlDelayMs, fetched_at: fetchedAt } = row;
  return { origin, site, body, crawlDelayMs, fetchedAt };
}

export function keepRobots(
  context: Context,
  copy: RobotsCopy,
  { staleBefore, uselessBefore, mostBytes }: RobotsBounds,
): void {
  const { origin, site, body, crawlDelayMs, fetchedAt } = copy;
  const { connection } = context;
  connection.write(() => {
    // The sum of bytes follows the order of the copies.
    connection.dialect.lockName(connection, "robots");
    connection.sql("DELETE FROM robots WHERE origin = ?").run(origin);
    connection
      .sql(
        `INSERT INTO robots (origin, site, body, crawl_delay_ms, fetched_at, cumulative_bytes)
         VALUES (?, ?, ?, ?, ?, ? + coalesce(${CUMULATIVE_BYTES}, 0))`,
      )
      .run(origin, site, body, crawlDelayMs, fetchedAt, body.length);
    // A week-old http:// file does not override the current https:// one.
    connection
      .sql("UPDATE robots SET crawl_delay_ms = NULL WHERE site = ? AND crawl_delay_ms IS NOT NULL AND fetched_at < ?")
      .run(site, staleBefore);
    // A site with a Crawl-delay is not sharded.
    const sharded = connection.sql("SELECT 1 AS one FROM sites WHERE site = ? AND shards > 1").get(site);
    const record = sharded === undefined ? null : readSite(context, site);
    if (record !== null) updateTargetShardCount(context, record);
    // A replaced copy gets a new number, so the oldest have the lowest.
    connection
      .sql(
        `DELETE FROM robots WHERE n IN (SELECT n FROM robots ORDER BY n LIMIT ${REMOVE_BATCH})
           AND (fetched_at < ? OR n <= (SELECT max(n) FROM robots) - ${MAX_COPIES} OR cumulative_bytes <= ${CUMULATIVE_BYTES} - ?)`,
      )
      .run(uselessBefore, mostBytes);
  });
}
