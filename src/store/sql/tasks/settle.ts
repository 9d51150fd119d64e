import { type RunState, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { RunEvent } from "../../../domain/run/outcome.ts";
import type { LaneHold, SettleBatch, Settled, SettledTask } from "../../ports/port.ts";
import type { Turn } from "../../ports/claim-port.ts";
import { limitsOf, type RunLocks } from "../kernel/connection.ts";
import { appendEvent, type Context, rows } from "../kernel/context.ts";
import type { RunChange } from "../kernel/counters.ts";
import { lockRuns, RUNS_BY_ID } from "../kernel/lock-runs.ts";
import { endRunIfDone, isEnding } from "../runs/end-run.ts";
import { lanesForFreedQuota } from "../lanes/freed-quota.ts";
import { holdQuery, STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { Lookups, Outcomes, type StreamsOfTasks } from "./outcomes.ts";
import { lanesThatWaitFor } from "../sites/site-deps.ts";
import { mergePoliteness, writeHealth, writePoliteness, writeWaiting } from "../sites/sites.ts";
import { endStopped, HAS_STOPS } from "./stop-task.ts";
import { CounterDeltas } from "./counter-deltas.ts";
import { Advance } from "../workflows/workflow-advance.ts";
import { lockJobs } from "./lock-jobs.ts";
import { dropTasks } from "./write-task.ts";

export function settle(context: Context, batches: readonly SettleBatch[], now: number, turn?: Turn): Settled {
  return context.connection.write(() => settleIn(context, batches, now, turn), limitsOf(turn));
}

function settleIn(context: Context, batches: readonly SettleBatch[], now: number, turn: Turn | undefined): Settled {
  const { connection } = context;
  const isLocked = lockRunsOf(context, batches, turn);
  // Before the lanes: while it waits for a job, heartbeats renew them.
  const isJobMissed = lockJobs(context, batches, turn);
  const opened = new Set<string>();
  const deltas = new CounterDeltas();
  const advance = new Advance(context, deltas, opened, now);
  const read = readBatches(context, batches);
  const lookups = new Lookups(
    context,
    batches.flatMap((batch) => batch.tasks),
    now,
  );
  const found = read();
  const { holds, streams, runs, hasStops } = found;
  const held = batches.filter(({ hold }) => holds.has(hold));
  const busy = turn === "try" ? busyAmong(held, found, isLocked, isJobMissed) : new Set<SettledTask>();
  const ours =
    busy.size === 0 ? held : held.map((batch) => ({ ...batch, tasks: batch.tasks.filter((one) => !busy.has(one)) }));
  const lost = batches.filter(({ hold }) => !holds.has(hold)).map(({ hold }) => hold.laneId);
  const tasks = ours.flatMap((batch) => batch.tasks);
  // Also for a run that was removed.
  const isLate = ({ task }: SettledTask) => streams.get(task.streamId)?.closed ?? true;
  const late = tasks.filter(isLate);
  const outcomes = new Outcomes(context, { lookups, streams, deltas, advance, opened, now });
  dropTasks(context, late, deltas, now);
  const saturated = outcomes.settle(late.length === 0 ? tasks : tasks.filter((settled) => !isLate(settled)));
  const missed = new Set(deltas.missed);
  for (const batch of ours) {
    const { hold } = batch;
    if (batch.site !== undefined && hold.shard === undefined)
      writePoliteness(context, hold.laneId, batch.site.politeness);
    else if (batch.site !== undefined) mergePoliteness(context, hold.laneId, batch.site, now);
    for (const { site, health } of batch.health ?? []) writeHealth(context, hold, site, health);
    if (batch.waiting !== undefined) writeWaiting(context, batch.hold.laneId, batch.waiting);
    const events = batch.tasks.flatMap(({ task, laneEvents = [] }) => (missed.has(task.row) ? [] : laneEvents));
    if (events.length > 0) appendToRuns(context, batch.hold.laneId, events, isLocked, now);
  }
  deltas.throughput.write(context, now);
  advance.write();
  // A run may end only after all moves are counted.
  const ended: Settled["ended"] = [];
  const counted = deltas.apply(context);
  for (const lane of lanesThatWaitFor(context, counted.closed)) opened.add(lane);
  for (const [run, change] of counted.runs) {
    const end = saturated.has(run) || mayEnd(runs.get(run), change) ? endRunIfDone(context, run, now) : null;
    if (end === null) {
      for (const lane of lanesForFreedQuota(context, run, change)) opened.add(lane);
      continue;
    }
    const row = connection.sql("SELECT id FROM runs WHERE n = ?").get(run) as { id: string };
    ended.push({ runId: row.id, status: end.status });
    for (const lane of end.lanes) opened.add(lane);
  }
  // Of other runs, the jobs are not locked.
  const mayStop = (run: number) => runs.has(run) && isLocked(run) && !isJobMissed(runs.get(run)?.job ?? null);
  if (hasStops) endStopped(context, opened, ended, now, mayStop);
  const dropped = new Set([...late.map(({ task }) => task.row), ...missed]);
  return {
    lost,
    opened: [...opened],
    ended,
    ...(dropped.size === 0 ? {} : { dropped: [...dropped] }),
    ...(busy.size === 0 ? {} : { busy: [...busy].map(({ task }) => task.row) }),
  };
}

/** Outcomes of runs that others have locked; those with events for all runs of a lane need all of these. */
function busyAmong(
  batches: readonly SettleBatch[],
  { streams, runs }: Batches,
  isLocked: RunLocks,
  isJobMissed: (job: string | null) => boolean,
): Set<SettledTask> {
  const isBusy = ({ task, laneEvents = [] }: SettledTask) => {
    const run = streams.get(task.streamId)?.run;
    // Of a run that was removed.
    if (run === undefined) return false;
    return !isLocked(run) || isJobMissed(runs.get(run)?.job ?? null) || (laneEvents.length > 0 && isLocked.missed());
  };
  return new Set(batches.flatMap(({ tasks }) => tasks).filter(isBusy));
}

/** The runs of the tasks, and those that get events of their lanes. */
function lockRunsOf(context: Context, batches: readonly SettleBatch[], turn: Turn | undefined): RunLocks {
  const ids = new Set(batches.flatMap(({ tasks }) => tasks.map(({ task }) => task.runId)));
  const lanes = batches
    .filter(({ tasks }) => tasks.some(({ laneEvents = [] }) => laneEvents.length > 0))
    .map(({ hold }) => hold.laneId);
  if (lanes.length === 0) return lockRuns(context, [...ids], turn);
  const logged = `SELECT run FROM (SELECT s.run FROM streams s WHERE s.lane = ? AND ${STREAM_IS_OPEN} LIMIT ${MAX_LOGGED_RUNS}) AS logged`;
  const text = [RUNS_BY_ID, ...lanes.map(() => logged)].join(" UNION ");
  const values = [JSON.stringify([...ids]), ...lanes];
  return context.connection.dialect.lockRuns(context.connection, { text, values }, turn);
}

const STREAM = `SELECT s.run, r.job, r.status, r.hold, r.completion_hooks, r.kind, r.open_streams, r.pages_limit, r.pages_counted
  FROM streams s JOIN runs r ON r.n = s.run WHERE s.id = ?`;

interface StreamRow {
  run: number;
  job: string | null;
  status: RunState;
  hold: string | null;
  completion_hooks: string | null;
  kind: string;
  open_streams: number;
  pages_limit: number | null;
  pages_counted: number;
}

interface Batches {
  /** Those whose lanes are still owned. */
  holds: ReadonlySet<LaneHold>;
  streams: StreamsOfTasks;
  /** The runs, as they were before. */
  runs: ReadonlyMap<number, StreamRow>;
  hasStops: boolean;
}

/** Whether a run may have ended; false saves a round trip. Steps of a workflow open others while it is settled. */
function mayEnd(before: StreamRow | undefined, { counted, open }: RunChange): boolean {
  if (before === undefined || before.kind === "workflow") return true;
  const isFull = before.pages_limit !== null && before.pages_counted + counted >= before.pages_limit;
  return isFull || before.open_streams + open <= 0;
}

/** Locks the lanes, in order, and reads what settling needs, in one round trip. */
function readBatches({ connection }: Context, batches: readonly SettleBatch[]): () => Batches {
  const holds = batches.map(({ hold }) => hold).toSorted((a, b) => a.laneId - b.laneId);
  const ids = [...new Set(batches.flatMap(({ tasks }) => tasks.map(({ task }) => task.streamId)))];
  const answer = connection.dialect.ask(connection, [
    ...holds.map((hold) => holdQuery(connection, hold)),
    ...ids.map((id) => ({ text: STREAM, values: [id] })),
    // Nobody can request a stop before this transaction ends.
    HAS_STOPS,
  ]);
  return () => {
    const found = answer();
    const rows = found.slice(holds.length, -1) as unknown as (StreamRow | undefined)[];
    return {
      holds: new Set(holds.filter((_, index) => found[index] !== undefined)),
      streams: readStreams(ids, rows),
      runs: new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.run, row]]))),
      hasStops: found.at(-1) !== undefined,
    };
  };
}

/** The runs of the streams; some may have ended (cancelled, out of time) while their owner ran tasks. */
function readStreams(ids: readonly number[], found: readonly (StreamRow | undefined)[]): StreamsOfTasks {
  return new Map(
    ids.flatMap((id, index) => {
      const row = found[index];
      if (row === undefined) return [];
      const closed = TERMINAL_RUN_STATES.includes(row.status) || isEnding(row.hold);
      return [[id, { run: row.run, closed, hooks: row.completion_hooks }]];
    }),
  );
}

const MAX_LOGGED_RUNS = 100;
const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

function appendToRuns(
  context: Context,
  lane: number,
  events: readonly RunEvent[],
  isLocked: (run: number) => boolean,
  now: number,
): void {
  const runs = rows<{ run: number }>(
    context.connection
      .sql(
        // An ended run that waits to be swept gets no more events.
        `SELECT DISTINCT s.run FROM streams s JOIN runs r ON r.n = s.run
         WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND r.status NOT IN (${ended}) LIMIT ${MAX_LOGGED_RUNS}`,
      )
      .all(lane),
  );
  for (const { run } of runs) if (isLocked(run)) for (const event of events) appendEvent(context, run, event, now);
}
