import { type Context, rows } from "../kernel/context.ts";
import type { PageCountChange } from "../kernel/counters.ts";

/**
 * Lanes with pages of a crawl that could not be claimed while the whole quota was in flight: when some were requeued or
 * did not count, others may take their place in any lane.
 */
export function lanesForFreedQuota(
  { connection }: Context,
  run: number,
  { inFlight, counted }: PageCountChange,
): string[] {
  const freed = -inFlight - counted;
  if (freed <= 0) return [];
  const { free } = connection
    .sql("SELECT pages_limit - pages_counted - pages_in_flight AS free FROM runs WHERE n = ?")
    .get(run) as { free: number | null };
  // There was quota left before: no lane had to wait for it.
  if (free === null || free > freed) return [];
  const waiting = connection
    .sql("SELECT l.lane FROM streams s JOIN lanes l ON l.id = s.lane WHERE s.run = ? AND s.queued > 0 LIMIT ?")
    .all(run, Math.max(0, free));
  return rows<{ lane: string }>(waiting).map(({ lane }) => lane);
}
