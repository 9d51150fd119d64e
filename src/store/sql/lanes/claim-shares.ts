/** Fair shares of a claim: equal parts per run, sites of a lane in turns, and each lane its share of the remaining page quota. */
import type { ClaimOptions } from "../../ports/claim-port.ts";
import { type Context, rows, STATE } from "../kernel/context.ts";

/** A stream with ready tasks, as far as its share matters. */
export interface Sharing {
  id: number;
  run: number;
  site: string;
  auxiliary: number;
  queued: number;
  running: number;
  /** The pages of the run that may still be put in flight; null: unlimited. */
  quota_left: number | null;
  /** Open streams of the run, in all lanes. */
  open_streams: number;
}

/** How many tasks of these streams of one run may be claimed, now or later. */
export function readyOf(streams: readonly Sharing[], quotaLeft = streams[0]?.quota_left ?? null): number {
  const ready = { auxiliary: 0, pages: 0 };
  for (const { auxiliary, queued } of streams) ready[auxiliary === 1 ? "auxiliary" : "pages"] += queued;
  return ready.auxiliary + Math.min(ready.pages, quotaLeft ?? Number.POSITIVE_INFINITY);
}

/** Splits `limit` evenly over parties that can use at most what they have; the first in line get the remainder. */
export function divide(limit: number, wants: readonly number[]): number[] {
  const shares = wants.map(() => 0);
  let remaining = limit;
  while (remaining > 0) {
    const unsatisfied = wants.flatMap((want, index) => (want > (shares[index] ?? 0) ? [index] : []));
    if (unsatisfied.length === 0) break;
    const each = Math.max(1, Math.floor(remaining / unsatisfied.length));
    for (const index of unsatisfied) {
      const grant = Math.min(each, (wants[index] ?? 0) - (shares[index] ?? 0), remaining);
      shares[index] = (shares[index] ?? 0) + grant;
      remaining -= grant;
    }
  }
  return shares;
}

/** With more lanes than this, a share is so small that their number does not matter. */
const LANES_COUNTED = 64;

const LANES_WITH_PAGES = ["queued", "running", "retrying"]
  .map(
    (state) => `SELECT lane FROM (SELECT lane FROM streams INDEXED BY streams_${state}_of_run
      WHERE run = ?1 AND ${state} > 0 AND auxiliary = 0 LIMIT ${LANES_COUNTED}) AS ${state}_lanes`,
  )
  .join(" UNION ");

/**
 * How many pages of one run a lane may take now. The remaining quota is divided among all lanes in which the run has open
 * tasks, and no lane claims more than it starts soon: claimed pages that wait in one lane would block the others.
 */
export function quotaFor(
  { connection }: Context,
  streams: readonly Sharing[],
  { limit, soon = Number.POSITIVE_INFINITY }: ClaimOptions,
): number | null {
  const first = streams[0];
  if (first === undefined || first.quota_left === null) return null;
  const { run, quota_left: quotaLeft, open_streams: open } = first;
  if (open <= streams.length || quotaLeft >= limit * LANES_COUNTED) return quotaLeft;
  const { lanes } = connection.sql(`SELECT count(*) AS lanes FROM (${LANES_WITH_PAGES}) AS all_lanes`).get(run) as {
    lanes: number;
  };
  const share = Math.ceil(quotaLeft / Math.max(1, lanes));
  return lanes <= 1 || share >= limit ? quotaLeft : Math.min(share, Math.max(1, soon));
}

/**
 * The tasks to take of several streams of a run, with no more pages than the quota allows: the most urgent ones of each
 * site, round-robin over the sites, so that all have equally many in flight. Null for a run that needs no choice.
 */
export function bestOf(
  { connection }: Context,
  runs: readonly ({ streams: readonly Sharing[]; count: number; quotaLeft: number | null } | null)[],
): (number[] | null)[] {
  const wanted = runs.flatMap((run) =>
    run === null ? [] : run.streams.map((stream) => ({ stream, limit: Math.min(run.count, stream.queued) })),
  );
  const lists = connection.dialect.lists(
    connection,
    wanted.map(({ stream, limit }) => ({ text: MOST_URGENT, values: [stream.id, limit] })),
  );
  const tasksOf = new Map(wanted.map(({ stream }, index) => [stream, rows<UrgentTask>(lists[index] ?? [])]));
  return runs.map((run) => (run === null ? null : choose(run.streams, run.count, run.quotaLeft, tasksOf)));
}

const MOST_URGENT = `SELECT id, priority FROM tasks WHERE stream = ? AND state = ${STATE.queued} ORDER BY priority DESC, id LIMIT ?`;

interface UrgentTask {
  id: number;
  priority: number;
}

function choose(
  streams: readonly Sharing[],
  count: number,
  quotaLeft: number | null,
  tasksOf: ReadonlyMap<Sharing, UrgentTask[]>,
): number[] {
  const bySite = Map.groupBy(streams, ({ site }) => site);
  const turns = [...bySite.values()].flatMap((siteStreams) => {
    const inFlight = siteStreams.reduce((sum, { running }) => sum + running, 0);
    return siteStreams
      .flatMap((stream) => (tasksOf.get(stream) ?? []).map((task) => ({ ...task, isPage: stream.auxiliary === 0 })))
      .toSorted(byUrgency)
      .map((task, index) => ({ ...task, turn: bySite.size === 1 ? 0 : inFlight + index }));
  });
  let remaining = quotaLeft ?? Number.POSITIVE_INFINITY;
  return turns
    .toSorted((a, b) => a.turn - b.turn || byUrgency(a, b))
    .filter(({ isPage }) => !isPage || remaining-- > 0)
    .slice(0, count)
    .map(({ id }) => id);
}

function byUrgency(a: { id: number; priority: number }, b: { id: number; priority: number }): number {
  return b.priority - a.priority || a.id - b.id;
}
