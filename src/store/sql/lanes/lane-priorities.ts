import { type Context, RUN_MAY_WORK, STATE } from "../kernel/context.ts";
import { STREAM_IS_OPEN } from "./lanes.ts";

/** Among retries, the first to be ready represents all. */
const OF_ITEMS = `SELECT max(coalesce(
    (SELECT priority FROM tasks WHERE stream = s.id AND state = ${STATE.queued} ORDER BY priority DESC, id LIMIT 1),
    (SELECT priority FROM tasks WHERE stream = s.id AND state = ${STATE.retrying} ORDER BY ready_at LIMIT 1), 0)) AS priority
  FROM lanes l CROSS JOIN runs r ON r.kind = 'queue' CROSS JOIN streams s ON s.lane = l.id AND s.run = r.n LEFT JOIN sites p ON p.site = s.site
  WHERE l.lane = ? AND ${RUN_MAY_WORK} AND ${STREAM_IS_OPEN} AND coalesce(p.paused, 0) = 0`;

/** Priorities of other runs are not comparable between lanes: within a crawl they reflect the depth of a page. */
const OTHERS = `SELECT 1 FROM lanes l CROSS JOIN streams s ON s.lane = l.id CROSS JOIN runs r ON r.n = s.run
    LEFT JOIN sites p ON p.site = s.site
  WHERE l.lane = ? AND s.queued > 0 AND r.kind <> 'queue' AND ${RUN_MAY_WORK} AND coalesce(p.paused, 0) = 0 LIMIT 1`;

export function lanePriorities({ connection }: Context, lanes: readonly string[]): number[] {
  const query = (text: string, of: readonly string[]) =>
    connection.dialect.firsts(
      connection,
      of.map((lane) => ({ text, values: [lane] })),
    );
  const priorities = query(OF_ITEMS, lanes).map((row) => Number(row?.["priority"] ?? 0));
  const low = [...lanes.keys()].filter((n) => (priorities[n] ?? 0) < 0);
  const others = query(
    OTHERS,
    low.map((n) => lanes[n] ?? ""),
  );
  for (const [index, n] of low.entries()) if (others[index] !== undefined) priorities[n] = 0;
  return priorities;
}
