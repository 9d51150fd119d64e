import { encodeId } from "../../../domain/run/ids.ts";
import type { ClaimOptions } from "../../ports/claim-port.ts";
import type { Claim, ClaimedTask, LaneHold } from "../../ports/port.ts";
import { limitsOf, type Query } from "../kernel/connection.ts";
import { type Context, NEVER, parseJson, rows, STATE } from "../kernel/context.ts";
import { bestOf, divide, quotaFor, readyOf } from "./claim-shares.ts";
import { moveRun } from "../runs/move-run.ts";
import { changeAllCounters, type CounterChange } from "../kernel/counters.ts";
import { unpackAttempts } from "../tasks/history.ts";
import { stepsStarted, maxAttemptsOfStep } from "../workflows/open-steps.ts";
import { holdQuery } from "./lanes.ts";
import { LaneReader, NEXT_RETRY, STREAMS_PER_CLAIM, type StreamRow } from "./lane-reader.ts";
import { streamId } from "./lane-assignments.ts";
import { rebalanceShards } from "./shards.ts";
import { startEvent } from "../runs/start-event.ts";

/** Rows as arrays: the names of thirteen columns would cost a fifth of the claim. */
export type ClaimedRow = [
  id: number,
  stream: number,
  priority: number,
  tries: number,
  waits: number,
  key: string,
  url: string | null,
  nextUrl: string | null,
  handler: string | null,
  payload: string | null,
  attempts: string | null,
  outcome: string | null,
  claims: number,
];

export const CLAIMED =
  "id, stream, priority, tries, waits, key, url, next_url, handler, payload, attempts, outcome, claims";

const TAKE_FROM_STREAM = `UPDATE tasks SET state = ${STATE.running}, claims = claims + 1 WHERE id IN (SELECT id FROM tasks
  WHERE stream = ? AND state = ${STATE.queued} ORDER BY priority DESC, id LIMIT ?) RETURNING ${CLAIMED}`;

const TAKE_THESE = `UPDATE tasks SET state = ${STATE.running}, claims = claims + 1 WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) RETURNING ${CLAIMED}`;

// Moves due retries in batches: a flood of them must not make one long transaction.
const WAKE_BATCH = 500;

const MAX_LANES_KNOWN = 10_000;

/** The round-robin position over a lane's runs; only a hint, so it may live with the connection. */
export class ClaimCursor {
  readonly #lastRun = new Map<number, number>();

  /** The run after which the next claim starts. */
  behind(lane: number): number {
    return this.#lastRun.get(lane) ?? 0;
  }

  served(lane: number, run: number): void {
    if (this.#lastRun.size >= MAX_LANES_KNOWN) this.#lastRun.clear();
    this.#lastRun.set(lane, run);
  }
}

export function claim(
  context: Context,
  cursor: ClaimCursor,
  hold: LaneHold,
  options: ClaimOptions,
  now: number,
): Claim | null {
  const work = () => claimIn(context, cursor, hold, options, now);
  return context.connection.write(work, limitsOf(options.turn));
}

function claimIn(
  context: Context,
  cursor: ClaimCursor,
  hold: LaneHold,
  options: ClaimOptions,
  now: number,
): Claim | null {
  const { connection } = context;
  const { dialect } = connection;
  const reader = new LaneReader(hold.laneId, cursor.behind(hold.laneId), options, now);
  const isLocked = dialect.lockRuns(connection, reader.runs(), options.turn);
  const isOurs = ({ run }: { run: number }) => isLocked(run);
  const [held = [], due = [], ...readyLists] = dialect.lists(connection, [
    holdQuery(connection, hold),
    reader.dueRetries(),
    ...reader.readyStreams(),
  ]);
  if (held.length === 0) return null;
  const woken = wakeRetries(context, rows<{ id: number; run: number }>(due).filter(isOurs), now);
  const lists = woken ? dialect.lists(connection, reader.readyStreams()) : readyLists;
  const found = rows<StreamRow>(lists.flat()).slice(0, STREAMS_PER_CLAIM);
  const ready = found.filter(isOurs);
  const limited = capAtPermits(ready, options);
  const byRun = Map.groupBy(ready, (stream) => stream.run);
  const order = [...byRun.keys()];
  const quotas = order.map((run) => quotaFor(context, byRun.get(run) ?? [], options));
  const shares = divide(
    options.limit,
    order.map((run, index) => readyOf(byRun.get(run) ?? [], quotas[index])),
  );
  const changes = new Map<number, CounterChange>();
  const parts = order.map((run, index) => ({
    streams: byRun.get(run) ?? [],
    count: shares[index] ?? 0,
    quotaLeft: quotas[index] ?? null,
  }));
  const { taken, nextReadyAt } = take(context, hold.laneId, parts, changes, now);
  changeAllCounters(context, changes);
  // The run that got the last task; the next claim starts after it, so that no run always gets the extra one.
  const max = Math.max(0, ...taken.map((list) => list.length));
  const lastServed = max === 0 ? undefined : order.findLast((_, index) => taken[index]?.length === max);
  if (lastServed !== undefined) cursor.served(hold.laneId, lastServed);
  const { shard } = hold;
  const opened =
    shard === undefined
      ? []
      : rebalanceShards(
          context,
          { ...hold, shard },
          ready,
          options.limit,
          ({ run, site, resolver, auxiliary }, lane, index) =>
            streamId(context, run, { lane, site, shard: index, resolver, auxiliary: auxiliary === 1 }),
        );
  const remaining = order.reduce((sum, run) => sum + readyOf(byRun.get(run) ?? []), 0);
  return {
    tasks: interleave(taken),
    more: remaining > 0 || found.length >= STREAMS_PER_CLAIM || ready.length < found.length,
    ...(limited.length === 0 ? {} : { limited }),
    nextReadyAt,
    ...(opened.length === 0 ? {} : { opened }),
    ...(max === 0 && limited.length === 0 && (isLocked.missed() || ready.length < found.length) ? { busy: true } : {}),
  };
}

/** Caps `queued` at the permits; returns the capped resolvers. */
function capAtPermits(
  streams: readonly StreamRow[],
  { resolverRoom, limitedRoom = Number.POSITIVE_INFINITY }: ClaimOptions,
): string[] {
  const limited = new Set<string>();
  if (resolverRoom === undefined) return [];
  const remaining = new Map(Object.entries(resolverRoom));
  let remainingOfAll = limitedRoom;
  for (const stream of streams) {
    const isUnknown = stream.kind === "queue" && stream.resolver !== "" && !remaining.has(stream.resolver);
    const room = isUnknown ? 0 : (remaining.get(stream.resolver) ?? null);
    if (room === null) continue;
    const max = Math.min(room, remainingOfAll);
    if (stream.queued > max) limited.add(stream.resolver);
    stream.queued = Math.min(stream.queued, max);
    remaining.set(stream.resolver, room - stream.queued);
    remainingOfAll -= stream.queued;
  }
  return [...limited];
}

/** Wakes due retries of streams. Returns whether there were some. */
function wakeRetries(context: Context, streams: readonly { id: number }[], now: number): boolean {
  const { connection } = context;
  if (streams.length === 0) return false;
  const lists = connection.dialect.lists(
    connection,
    streams.map(({ id }) => ({ text: WAKE, values: [id, now] })),
  );
  const changes = streams.flatMap(({ id }, index): [number, CounterChange][] => {
    const woken = lists[index]?.length ?? 0;
    return woken === 0 ? [] : [[id, { retrying: -woken, queued: woken }]];
  });
  changeAllCounters(context, changes);
  return changes.length > 0;
}

const WAKE = `UPDATE tasks SET state = ${STATE.queued} WHERE id IN (SELECT id FROM tasks
  WHERE stream = ? AND state = ${STATE.retrying} AND ready_at <= ? ORDER BY ready_at LIMIT ${WAKE_BATCH}) RETURNING id`;

/** The streams of one run, and how many tasks to take of them. */
interface Part {
  streams: StreamRow[];
  count: number;
  quotaLeft: number | null;
}

/** Takes tasks of several runs, in two round trips. Collects counter changes, which are written once for all runs. */
function take(
  context: Context,
  lane: number,
  parts: readonly Part[],
  changes: Map<number, CounterChange>,
  now: number,
): { taken: ClaimedTask[][]; nextReadyAt: number | null } {
  const { connection } = context;
  const best = bestOf(
    context,
    parts.map((part) => (part.streams.length > 1 && part.count > 0 ? part : null)),
  );
  const queries = parts.map(({ streams, count }, index): Query => {
    const ids = best[index] ?? null;
    return ids === null
      ? { text: TAKE_FROM_STREAM, values: [streams[0]?.id ?? 0, count], lists: true }
      : { text: TAKE_THESE, values: [JSON.stringify(ids)], lists: true };
  });
  const [next = [], ...lists] = connection.dialect.lists(connection, [
    { text: NEXT_RETRY, values: [lane, lane] },
    ...queries.filter((_, index) => (parts[index]?.count ?? 0) > 0),
  ]);
  const taken = parts.map((part, index) => {
    if (part.count === 0) return [];
    const list = rows<ClaimedRow>(lists.shift() ?? []);
    return claimed(context, part.streams, inOrder(list, best[index] ?? null), changes, now);
  });
  const at = (next[0] as { at: number | null } | undefined)?.at ?? null;
  return { taken, nextReadyAt: at === null || at >= NEVER ? null : at };
}

/** Counts the tasks that were taken from streams of one run, and starts the run. */
function claimed(
  context: Context,
  streams: StreamRow[],
  list: readonly ClaimedRow[],
  changes: Map<number, CounterChange>,
  now: number,
): ClaimedTask[] {
  const first = streams[0] as StreamRow;
  const byId = new Map(streams.map((stream) => [stream.id, { stream, taken: 0 }]));
  const tasks = list.map((row) => {
    const from = byId.get(row[1]) as { stream: StreamRow; taken: number };
    from.taken += 1;
    const task = toClaimed(context, row, from.stream);
    return first.kind === "workflow" ? { ...task, maxAttempts: maxAttemptsOfStep(context, row[0]) } : task;
  });
  for (const { stream, taken } of byId.values()) {
    if (taken === 0) continue;
    changes.set(stream.id, { queued: -taken, running: taken });
    stream.queued -= taken;
    if (stream.auxiliary === 1) continue;
    for (const other of streams) if (other.quota_left !== null) other.quota_left -= taken;
  }
  if (first.kind === "workflow") stepsStarted(context, first.run, tasks, now);
  if (first.status === "queued") moveRun(context, first.run, "running", startEvent(context, first.run), now);
  return tasks;
}

/** UPDATE … RETURNING does not guarantee the order, but usually keeps it. */
function inOrder(list: ClaimedRow[], ids: readonly number[] | null): ClaimedRow[] {
  if (ids !== null) {
    const order = new Map(ids.map((id, index) => [id, index]));
    return list.sort((a, b) => (order.get(a[0]) ?? 0) - (order.get(b[0]) ?? 0));
  }
  const isSorted = list.every((row, index) => index === 0 || precedes(list[index - 1] as ClaimedRow, row));
  return isSorted ? list : list.sort((a, b) => (precedes(a, b) ? -1 : 1));
}

function precedes(a: ClaimedRow, b: ClaimedRow): boolean {
  return a[2] > b[2] || (a[2] === b[2] && a[0] < b[0]);
}

/** Round-robin over the runs, so that the owner also starts them fairly. */
function interleave(lists: ClaimedTask[][]): ClaimedTask[] {
  if (lists.length === 1) return lists[0] as ClaimedTask[];
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

/** State left by earlier attempts. */
function stateFrom(outcome: string | null): { redirects: string[]; memory: unknown } {
  if (outcome === null) return { redirects: [], memory: null };
  const { redirects, memory } = JSON.parse(outcome) as { redirects?: string[]; memory?: unknown };
  return { redirects: redirects ?? [], memory: memory ?? null };
}

export function toClaimed(context: Context, row: ClaimedRow, stream: StreamRow): ClaimedTask {
  const [id, streamId, priority, tries, waits, key, url, nextUrl, handler, payload, attempts, outcome, claim] = row;
  return {
    row: id,
    claim,
    id: encodeId(context.instance, "task", id),
    streamId,
    run: stream.run,
    runId: stream.run_id,
    runKind: stream.kind,
    generation: stream.generation,
    maxAttempts: stream.max_attempts,
    hasDeadline: stream.timed === 1,
    key,
    site: stream.site === "" ? null : stream.site,
    resolver: stream.resolver === "" ? null : stream.resolver,
    url,
    nextUrl,
    priority,
    handler,
    payload: parseJson<unknown>(payload, null),
    auxiliary: stream.auxiliary === 1,
    tries,
    waits,
    attempts: unpackAttempts(attempts),
    ...stateFrom(outcome),
  };
}
