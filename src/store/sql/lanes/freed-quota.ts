import { type Context, rows } from "../kernel/context.ts";
import type { PageChange } from "../kernel/counters.ts";

/**
 * Where the pages of a crawl wait that could not be handed out while as many were in hand as it may still have: when
 * some went back or did not count, others may go in their place, wherever they are.
 */
export function lanesForFreedQuota({ connection }: Context, run: number, { inHand, counted }: PageChange): string[] {
  const freed = -inHand - counted;
  if (freed <= 0) return [];
  const { free } = connection
    .sql("SELECT pages_limit - pages_counted - pages_in_flight AS free FROM runs WHERE n = ?")
    .get(run) as { free: number | null };
  // Before, there were places already: nobody had to wait for one.
  if (free === null || free > freed) return [];
  const waiting = connection
    .sql("SELECT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ? AND s.queued > 0 LIMIT ?")
    .all(run, Math.max(0, free));
  return rows<{ lane: string }>(waiting).map(({ lane }) => lane);
}
