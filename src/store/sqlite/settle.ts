import { type RunState, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { LaneEvent, SettleBatch, Settled, SettledTask } from "../port.ts";
import { appendEvent, type Context, mergeFacts, rows, stampIdleLane, STATE } from "./context.ts";
import { endRunIfDone } from "./end-run.ts";
import { placeOf, streamId } from "./insert-tasks.ts";
import { holdsLane, STREAM_IS_OPEN } from "./lanes.ts";
import { lanesForFreedPlaces } from "./freed-places.ts";
import { claimLanding, knownLanding, writeTraps } from "./frontier.ts";
import { takeDiscovered } from "./grow-run.ts";
import { keepCopy } from "./page-copies.ts";
import { cancelRuns } from "./move-run.ts";
import { dropArtifacts } from "./retention.ts";
import { lanesThatWaitFor } from "./site-deps.ts";
import { Tally } from "./tally.ts";
import { waitForHuman } from "./run-ends.ts";
import { countError, tellFailure } from "./run-errors.ts";
import { dropChildren, endStopped } from "./stop-task.ts";
import { writeHealth, writeLearned, writePoliteness, writeWaiting } from "./sites.ts";
import { Advance } from "./workflow-advance.ts";
import { fallAsleep } from "./workflow-sleep.ts";
import { dropTask, endTask, keepTask } from "./write-task.ts";
import { REPLACED, writeArtifacts, writeYield } from "./write-yield.ts";

export function settle(context: Context, batches: readonly SettleBatch[], now: number): Settled {
  const { connection } = context;
  return connection.write(() => {
    const lost: number[] = [];
    const opened = new Set<string>();
    const tally = new Tally();
    const advance = new Advance(context, tally, opened, now);
    const closed = new ClosedStreams(context);
    const dropped: number[] = [];
    for (const batch of batches) {
      if (!holdsLane(context, batch.hold)) {
        lost.push(batch.hold.laneId);
        continue;
      }
      for (const settled of batch.tasks) {
        if (closed.has(settled.task.streamId)) {
          dropTask(context, settled, tally, now);
          dropped.push(settled.task.row);
        } else {
          settleTask(context, settled, tally, advance, opened, now);
        }
      }
      if (batch.site !== undefined) writePoliteness(context, batch.hold.laneId, batch.site.politeness);
      for (const { site, health } of batch.health ?? []) writeHealth(context, site, health);
      if (batch.waiting !== undefined) writeWaiting(context, batch.hold.laneId, batch.waiting);
      if (batch.events !== undefined) appendToRuns(context, batch.hold.laneId, batch.events, now);
    }
    tally.pace.write(context, now);
    advance.write();
    // Only after all moves are counted may a run be found finished.
    const ended: Settled["ended"] = [];
    const counted = tally.apply(context);
    for (const lane of lanesThatWaitFor(context, counted.closed)) opened.add(lane);
    for (const [run, change] of counted.runs) {
      const end = endRunIfDone(context, run, now);
      if (end === null) {
        for (const lane of lanesForFreedPlaces(context, run, change)) opened.add(lane);
        continue;
      }
      const row = connection.sql("SELECT id FROM runs WHERE n = ?").get(run) as { id: string };
      ended.push({ runId: row.id, status: end.status });
      for (const lane of end.lanes) opened.add(lane);
    }
    endStopped(context, opened, ended, now);
    dropped.push(...tally.missed);
    return { lost, opened: [...opened], ended, ...(dropped.length === 0 ? {} : { dropped }) };
  });
}

/** Streams whose run was ended (cancelled, out of time) while its owner had tasks of it in hand. */
class ClosedStreams {
  readonly #context: Context;
  readonly #known = new Map<number, boolean>();

  constructor(context: Context) {
    this.#context = context;
  }

  has(stream: number): boolean {
    let closed = this.#known.get(stream);
    if (closed === undefined) {
      const row = this.#context.connection
        .sql("SELECT r.status FROM streams s JOIN runs r ON r.n = s.run WHERE s.id = ?")
        .get(stream) as { status: RunState } | undefined;
      this.#known.set(stream, (closed = row !== undefined && TERMINAL_RUN_STATES.includes(row.status)));
    }
    return closed;
  }
}

/** What an attempt tells beside its outcome. */
function writeReport(context: Context, { task, verdict, attempt, report }: SettledTask, now: number): void {
  if (report === undefined) return;
  const { connection } = context;
  if (report.learned !== undefined) writeLearned(context, report.learned, now);
  // Without an attempt nothing was seen; and files of a task without a history would stand in the way of its yield.
  if (report.evidence !== undefined && verdict.kind !== "completed" && attempt !== null) {
    dropArtifacts(context, REPLACED, task.row);
    writeArtifacts(context, task, report.evidence, now);
  }
  if (report.traps !== undefined) writeTraps(context, task.runId, report.traps);
  if (report.pageMs !== undefined)
    connection.sql("UPDATE runs SET page_ms = ? WHERE id = ?").run(report.pageMs, task.runId);
  if (report.cancelRuns !== undefined) cancelRuns(context, report.cancelRuns, "its step waits for it no more", now);
  if (report.run === undefined && report.events === undefined) return;
  const { n } = connection.sql("SELECT n FROM runs WHERE id = ?").get(task.runId) as { n: number };
  if (report.run !== undefined) mergeFacts(context, n, report.run.facts);
  for (const event of [...(report.run?.events ?? []), ...(report.events ?? [])]) appendEvent(context, n, event, now);
}

/**
 * A page that turned out to be another, which has a task already: there is no second result. What it leads to is added
 * all the same, as the other may have been read at another time, or not yet.
 */
function skipAlias(
  context: Context,
  settled: SettledTask,
  url: string,
  tally: Tally,
  opened: Set<string>,
  now: number,
): void {
  const outcome = { why: `redirects to ${url}, which is in this crawl already`, alias_of: url };
  if (!endTask(context, settled, "skipped", outcome, tally, now)) return;
  const { task, verdict } = settled;
  if (verdict.kind === "completed") {
    // What servers sent on the way is this page's own.
    dropArtifacts(context, REPLACED, task.row);
    writeArtifacts(
      context,
      task,
      verdict.artifacts.filter(({ role }) => role === "exchange"),
      now,
    );
  }
  for (const lane of takeDiscovered(context, settled, now)) opened.add(lane);
  writeReport(context, settled, now);
}

function settleTask(
  context: Context,
  settled: SettledTask,
  tally: Tally,
  advance: Advance,
  opened: Set<string>,
  now: number,
): void {
  const { connection } = context;
  const { task, verdict } = settled;
  switch (verdict.kind) {
    case "completed": {
      const same = knownLanding(context, settled);
      if (same !== null) return skipAlias(context, settled, same.url, tally, opened, now);
      if (!endTask(context, settled, "completed", verdict.detail ?? null, tally, now)) return;
      claimLanding(context, settled);
      writeYield(context, settled, verdict, now);
      keepCopy(context, settled, verdict.results.length);
      for (const lane of takeDiscovered(context, settled, now)) opened.add(lane);
      advance.ended(task, verdict);
      return writeReport(context, settled, now);
    }
    case "skipped":
      if (!endTask(context, settled, "skipped", { why: verdict.why }, tally, now)) return;
      advance.ended(task, verdict);
      return writeReport(context, settled, now);
    case "failed": {
      const memory = settled.report?.memory ?? task.memory;
      const outcome = { failure: verdict.failure, ...(memory === null ? {} : { memory }) };
      if (!endTask(context, settled, "failed", outcome, tally, now)) return;
      for (const lane of takeDiscovered(context, settled, now)) opened.add(lane);
      writeReport(context, settled, now);
      if (!task.aside) countError(context, task, verdict.failure);
      advance.ended(task, verdict);
      if (verdict.failure.reason === "task_stopped") dropChildren(context, task, now);
      if (task.runKind === "page" && settled.report?.run === undefined)
        tellFailure(context, task.runId, verdict.failure);
      return;
    }
    case "retry": {
      const more = { tries: task.tries + 1, readyAt: verdict.readyAt, outcome: { failure: verdict.failure } };
      // A step begins each try anew.
      const memory = task.runKind === "workflow" ? { memory: null } : {};
      if (!keepTask(context, settled, "retrying", tally, { ...more, ...memory })) return;
      advance.retries(task, verdict);
      for (const lane of takeDiscovered(context, settled, now)) opened.add(lane);
      return writeReport(context, settled, now);
    }
    case "wait":
      if (fallAsleep(context, settled, verdict.sleep, tally, opened, now)) advance.touched(task);
      return writeReport(context, settled, now);
    case "rate_wait":
      if (keepTask(context, settled, "queued", tally, { waits: task.waits + 1 })) writeReport(context, settled, now);
      return;
    case "handed_back": {
      const { readyAt } = verdict;
      const kept =
        readyAt === undefined
          ? keepTask(context, settled, "queued", tally, {})
          : keepTask(context, settled, "retrying", tally, { readyAt });
      if (kept) writeReport(context, settled, now);
      return;
    }
    case "human": {
      const { failure } = verdict;
      if (!keepTask(context, settled, "queued", tally, { outcome: { failure, human: true } })) return;
      writeReport(context, settled, now);
      const { n } = connection.sql("SELECT n FROM runs WHERE id = ?").get(task.runId) as { n: number };
      const meta = { task_id: task.id, failure_code: failure.code, failure_reason: failure.reason };
      waitForHuman(context, n, `Waiting for a person: ${failure.message}`, meta, now);
      return;
    }
    case "moved": {
      const same = knownLanding(context, settled);
      if (same !== null) return skipAlias(context, settled, same.url, tally, opened, now);
      const run = connection
        .sql(
          `SELECT s.run FROM tasks t JOIN streams s ON s.id = t.stream WHERE t.id = ? AND t.stream = ? AND t.state = ${STATE.running}`,
        )
        .get(task.row, task.streamId) as { run: number } | undefined;
      if (run === undefined) return;
      claimLanding(context, settled);
      const place = placeOf(context, verdict.lane, verdict.site, now);
      keepTask(context, settled, "queued", tally, {
        stream: streamId(context, run.run, place, task),
        url: verdict.url,
        redirects: verdict.redirects,
      });
      writeReport(context, settled, now);
      stampIdleLane(context, place.lane);
      opened.add(place.laneName);
      return;
    }
  }
}

const RUNS_TOLD_AT_MOST = 100;
const ended = TERMINAL_RUN_STATES.map((name) => `'${name}'`).join(", ");

function appendToRuns(context: Context, lane: number, events: readonly LaneEvent[], now: number): void {
  const runs = rows<{ run: number }>(
    context.connection
      .sql(
        // A run that has ended and waits to be swept has had its last word.
        `SELECT DISTINCT s.run FROM streams s JOIN runs r ON r.n = s.run
         WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND r.status NOT IN (${ended}) LIMIT ${RUNS_TOLD_AT_MOST}`,
      )
      .all(lane),
  );
  for (const { run } of runs) for (const event of events) appendEvent(context, run, event, now);
}
