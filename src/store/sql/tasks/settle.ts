import { type RunState, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { RunEvent } from "../../../domain/run/outcome.ts";
import type { SettleBatch, Settled, SettledTask } from "../../ports/port.ts";
import { appendEvent, type Context, rows } from "../kernel/context.ts";
import { endRunIfDone, isEnding } from "../runs/end-run.ts";
import { lanesForFreedQuota } from "../lanes/freed-quota.ts";
import { holdsLanes, STREAM_IS_OPEN } from "../lanes/lanes.ts";
import { Outcomes, type StreamsOfTasks } from "./outcomes.ts";
import { lanesThatWaitFor } from "../sites/site-deps.ts";
import { mergePoliteness, writeHealth, writePoliteness, writeWaiting } from "../sites/sites.ts";
import { endStopped } from "./stop-task.ts";
import { CounterDeltas } from "./counter-deltas.ts";
import { Advance } from "../workflows/workflow-advance.ts";
import { dropTasks } from "./write-task.ts";

export function settle(context: Context, batches: readonly SettleBatch[], now: number): Settled {
  const { connection } = context;
  return connection.write(() => {
    const opened = new Set<string>();
    const deltas = new CounterDeltas();
    const advance = new Advance(context, deltas, opened, now);
    const holds = holdsLanes(
      context,
      batches.map(({ hold }) => hold),
    );
    const ours = batches.filter((_, index) => holds[index] === true);
    const lost = batches.filter((_, index) => holds[index] !== true).map(({ hold }) => hold.laneId);
    const tasks = ours.flatMap((batch) => batch.tasks);
    const streams = streamsOf(context, tasks);
    // Also for a run that was removed.
    const isLate = ({ task }: SettledTask) => streams.get(task.streamId)?.closed ?? true;
    const late = tasks.filter(isLate);
    const outcomes = new Outcomes(context, { streams, deltas, advance, opened, now });
    dropTasks(context, late, deltas, now);
    outcomes.settle(late.length === 0 ? tasks : tasks.filter((settled) => !isLate(settled)));
    const missed = new Set(deltas.missed);
    for (const batch of ours) {
      const { hold } = batch;
      if (batch.site !== undefined && hold.shard === undefined)
        writePoliteness(context, hold.laneId, batch.site.politeness);
      else if (batch.site !== undefined) mergePoliteness(context, hold.laneId, batch.site.politeness, now);
      for (const { site, health } of batch.health ?? []) writeHealth(context, hold, site, health);
      if (batch.waiting !== undefined) writeWaiting(context, batch.hold.laneId, batch.waiting);
      const events = batch.tasks.flatMap(({ task, laneEvents = [] }) => (missed.has(task.row) ? [] : laneEvents));
      if (events.length > 0) appendToRuns(context, batch.hold.laneId, events, now);
    }
    deltas.throughput.write(context, now);
    advance.write();
    // A run may end only after all moves are counted.
    const ended: Settled["ended"] = [];
    const counted = deltas.apply(context);
    for (const lane of lanesThatWaitFor(context, counted.closed)) opened.add(lane);
    for (const [run, change] of counted.runs) {
      const end = endRunIfDone(context, run, now);
      if (end === null) {
        for (const lane of lanesForFreedQuota(context, run, change)) opened.add(lane);
        continue;
      }
      const row = connection.sql("SELECT id FROM runs WHERE n = ?").get(run) as { id: string };
      ended.push({ runId: row.id, status: end.status });
      for (const lane of end.lanes) opened.add(lane);
    }
    endStopped(context, opened, ended, now);
    const dropped = new Set([...late.map(({ task }) => task.row), ...missed]);
    return { lost, opened: [...opened], ended, ...(dropped.size === 0 ? {} : { dropped: [...dropped] }) };
  });
}

/** The runs of the streams; some may have ended (cancelled, out of time) while their owner ran tasks. */
function streamsOf({ connection }: Context, tasks: readonly SettledTask[]): StreamsOfTasks {
  const ids = [...new Set(tasks.map(({ task }) => task.streamId))];
  const text =
    "SELECT s.run, r.status, r.hold, r.completion_hooks FROM streams s JOIN runs r ON r.n = s.run WHERE s.id = ?";
  const found = connection.dialect.firsts(
    connection,
    ids.map((id) => ({ text, values: [id] })),
  );
  return new Map(
    ids.flatMap((id, index) => {
      const row = found[index] as StreamRow | undefined;
      if (row === undefined) return [];
      const closed = TERMINAL_RUN_STATES.includes(row.status) || isEnding(row.hold);
      return [[id, { run: row.run, closed, hooks: row.completion_hooks }]];
    }),
  );
}

interface StreamRow {
  run: number;
  status: RunState;
  hold: string | null;
  completion_hooks: string | null;
}

const MAX_LOGGED_RUNS = 100;
const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

function appendToRuns(context: Context, lane: number, events: readonly RunEvent[], now: number): void {
  const runs = rows<{ run: number }>(
    context.connection
      .sql(
        // An ended run that waits to be swept gets no more events.
        `SELECT DISTINCT s.run FROM streams s JOIN runs r ON r.n = s.run
         WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND r.status NOT IN (${ended}) LIMIT ${MAX_LOGGED_RUNS}`,
      )
      .all(lane),
  );
  for (const { run } of runs) for (const event of events) appendEvent(context, run, event, now);
}
