/** Who gets how much of a claim: runs in equal parts, sites of one server in turns, lanes their share of the last pages. */
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
  /** How many more pages of the run may be in hand; null: as many as there are. */
  places: number | null;
  /** Streams of the run that have anything open, in whatever lane. */
  open_streams: number;
}

/** How many tasks of these streams of one run may be taken, now or later. */
export function readyOf(streams: readonly Sharing[], places = streams[0]?.places ?? null): number {
  const ready = { auxiliary: 0, pages: 0 };
  for (const { auxiliary, queued } of streams) ready[auxiliary === 1 ? "auxiliary" : "pages"] += queued;
  return ready.auxiliary + Math.min(ready.pages, places ?? Number.POSITIVE_INFINITY);
}

/** Splits `limit` evenly over parties that can use at most what they have; the first in line get the remainder. */
export function divide(limit: number, wants: readonly number[]): number[] {
  const shares = wants.map(() => 0);
  let left = limit;
  while (left > 0) {
    const hungry = wants.flatMap((want, index) => (want > (shares[index] ?? 0) ? [index] : []));
    if (hungry.length === 0) break;
    const each = Math.max(1, Math.floor(left / hungry.length));
    for (const index of hungry) {
      const give = Math.min(each, (wants[index] ?? 0) - (shares[index] ?? 0), left);
      shares[index] = (shares[index] ?? 0) + give;
      left -= give;
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
 * How many pages of one run a lane may take now. The last ones are dealt out to all lanes in which the run has something
 * open, and none takes more than it begins soon: what waits in one lane's hands would keep the others from going on.
 */
export function placesFor(
  { connection }: Context,
  streams: readonly Sharing[],
  { limit, soon = Number.POSITIVE_INFINITY }: ClaimOptions,
): number | null {
  const first = streams[0];
  if (first === undefined || first.places === null) return null;
  const { run, places, open_streams: open } = first;
  if (open <= streams.length || places >= limit * LANES_COUNTED) return places;
  const { lanes } = connection.sql(`SELECT count(*) AS lanes FROM (${LANES_WITH_PAGES}) AS all_lanes`).get(run) as {
    lanes: number;
  };
  const share = Math.ceil(places / Math.max(1, lanes));
  return lanes <= 1 || share >= limit ? places : Math.min(share, Math.max(1, soon));
}

/**
 * The tasks to take of several streams of one run, with no more pages than there are places: the most urgent ones of
 * each site, the sites in turns, so that they have equally many in hand.
 */
export function bestOf(
  { connection }: Context,
  streams: readonly Sharing[],
  count: number,
  places: number | null,
): number[] {
  const bySite = Map.groupBy(streams, ({ site }) => site);
  const turns = [...bySite.values()].flatMap((own) => {
    const inHand = own.reduce((sum, { running }) => sum + running, 0);
    return own
      .flatMap((stream) =>
        rows<{ id: number; priority: number }>(
          connection
            .sql(
              `SELECT id, priority FROM tasks WHERE stream = ? AND state = ${STATE.queued} ORDER BY priority DESC, id LIMIT ?`,
            )
            .all(stream.id, Math.min(count, stream.queued)),
        ).map((task) => ({ ...task, isPage: stream.auxiliary === 0 })),
      )
      .toSorted(byUrgency)
      .map((task, index) => ({ ...task, turn: bySite.size === 1 ? 0 : inHand + index }));
  });
  let left = places ?? Number.POSITIVE_INFINITY;
  return turns
    .toSorted((a, b) => a.turn - b.turn || byUrgency(a, b))
    .filter(({ isPage }) => !isPage || left-- > 0)
    .slice(0, count)
    .map(({ id }) => id);
}

function byUrgency(a: { id: number; priority: number }, b: { id: number; priority: number }): number {
  return b.priority - a.priority || a.id - b.id;
}
