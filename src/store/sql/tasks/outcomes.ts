/** Writes the outcomes of many tasks. */
import type { SettledTask } from "../../ports/port.ts";
import { appendEvent, type Context, keyHash, mergeFacts, stampIdleLane } from "../kernel/context.ts";
import { claimLanding, Duplicates, knownLandings, writeTraps } from "../crawls/frontier.ts";
import { Discoveries } from "../crawls/grow-run.ts";
import { type LaneAssignment, assignLanes, assignShard, streamId } from "../lanes/lane-assignments.ts";
import { cancelRuns } from "../runs/move-run.ts";
import { keepCopy } from "../crawls/page-copies.ts";
import { PageCounts } from "../crawls/page-counts.ts";
import { PageStates } from "../crawls/page-states.ts";
import { countError, recordFailureFacts } from "../runs/run-errors.ts";
import { waitForHuman } from "../runs/run-ends.ts";
import { LearnedStrategies } from "../sites/sites.ts";
import { dropChildren } from "./stop-task.ts";
import type { CounterDeltas } from "./counter-deltas.ts";
import type { Advance } from "../workflows/workflow-advance.ts";
import { keepFixture } from "../catalog/fixtures.ts";
import { keepTrackedPage } from "../monitors/tracked-pages.ts";
import { keepMonitoredPage } from "../monitors/waiting-pages.ts";
import { keepRunPage } from "../runs/run-pages.ts";
import { PageCompletions } from "../catalog/webhooks.ts";
import { putToSleep } from "../workflows/workflow-sleep.ts";
import {
  endTasks,
  IS_CLAIMED,
  type Kept,
  keepTask,
  keepTasks,
  proofOf,
  type TaskEnd,
  type TaskKept,
} from "./write-task.ts";
import { Outputs } from "./write-outputs.ts";

/** The runs of streams, by stream number; `hooks`: actions when a page ends. */
export type StreamsOfTasks = ReadonlyMap<number, { run: number; closed: boolean; hooks: string | null }>;

/** What settling reads first, for all its tasks, so that it costs no round trips of its own. */
export class Lookups {
  readonly duplicates: Duplicates;
  readonly discoveries: Discoveries;
  readonly learned: LearnedStrategies;

  constructor(context: Context, tasks: readonly SettledTask[], now: number) {
    this.duplicates = new Duplicates(context, tasks);
    this.discoveries = new Discoveries(context, tasks);
    this.learned = new LearnedStrategies(context, tasks, now);
  }
}

interface SettleContext {
  lookups: Lookups;
  streams: StreamsOfTasks;
  deltas: CounterDeltas;
  advance: Advance;
  /** Lanes that got work. */
  opened: Set<string>;
  now: number;
}

type Verdict<Kind extends SettledTask["verdict"]["kind"]> = Extract<SettledTask["verdict"], { kind: Kind }>;

/** Planned writes, at most one per task. */
interface Plan {
  ends: TaskEnd[];
  keeps: TaskKept[];
  /** Depend on rows that others write first. */
  dependent: SettledTask[];
}

export class Outcomes {
  readonly #context: Context;
  readonly #settling: SettleContext;
  readonly #lookups: Lookups;
  readonly #counts: PageCounts;
  readonly #pages: PageStates;
  readonly #completions: PageCompletions;
  #outputs: Outputs;

  constructor(context: Context, settling: SettleContext) {
    this.#context = context;
    this.#settling = settling;
    this.#lookups = settling.lookups;
    this.#counts = new PageCounts(context);
    this.#pages = new PageStates(context);
    this.#completions = new PageCompletions(context, settling.now);
    this.#outputs = new Outputs(context, settling.now);
  }

  /** Returns the runs that were to end when they are saturated, and are. */
  settle(tasks: readonly SettledTask[]): ReadonlySet<number> {
    for (const wave of wavesOf(tasks)) this.#settleWave(wave);
    // After all outcomes: the target of a redirect is not added as another page.
    const { deltas, opened, now } = this.#settling;
    for (const lane of this.#lookups.discoveries.write(deltas, now)) opened.add(lane);
    const saturated = this.#counts.write();
    this.#pages.write();
    this.#lookups.learned.write();
    this.#completions.write();
    return saturated;
  }

  #settleWave(wave: readonly SettledTask[]): void {
    const { deltas, now } = this.#settling;
    const known = knownLandings(this.#context, wave);
    const plan: Plan = { ends: [], keeps: [], dependent: [] };
    for (const settled of wave) planOutcome(plan, settled, known.get(settled)?.url ?? null);
    this.#lookups.duplicates.mark(plan.ends);
    const ended = endTasks(this.#context, plan.ends, deltas, now);
    const kept = keepTasks(this.#context, plan.keeps, deltas);
    this.#outputs = new Outputs(this.#context, now);
    // Effects apply only to tasks that were still ours.
    for (const [index, end] of plan.ends.entries()) if (ended[index] === true) this.#afterEnd(end);
    for (const [index, { settled }] of plan.keeps.entries()) if (kept[index] === true) this.#afterKeeping(settled);
    for (const settled of plan.dependent) this.#settleDependent(settled);
    this.#outputs.write();
  }

  #afterEnd(end: TaskEnd): void {
    const { settled, state } = end;
    const { verdict } = settled;
    this.#counts.signIn(this.#runOf(settled), settled);
    if (verdict.kind === "failed") return this.#failed(settled, verdict);
    if (state === "completed" && verdict.kind === "completed") return this.#completed(end, verdict);
    if (verdict.kind === "skipped") {
      this.#discover(settled);
      this.#settling.advance.ended(settled.task, verdict);
    } else this.#skippedAlias(settled);
    keepRunPage(this.#context, settled, this.#runOf(settled), state);
    this.#report(settled);
  }

  #afterKeeping(settled: SettledTask): void {
    const { verdict } = settled;
    if (verdict.kind === "retry") {
      this.#settling.advance.retries(settled.task, verdict);
      this.#discover(settled);
    }
    this.#report(settled);
    if (verdict.kind === "human") this.#askHuman(settled, verdict);
  }

  #settleDependent(settled: SettledTask): void {
    const { verdict } = settled;
    if (verdict.kind === "wait") this.#sleep(settled, verdict);
    if (verdict.kind === "moved") this.#move(settled, verdict);
  }

  /**
   * A page that redirects to one with its own task has no second result. Its links are added all the same, as the other
   * may have been fetched at another time, or not yet.
   */
  #skippedAlias(settled: SettledTask): void {
    const { task, verdict } = settled;
    if (verdict.kind === "completed")
      // The exchanges along the redirect belong to this page.
      this.#outputs.replaceFiles(
        task,
        this.#runOf(settled),
        verdict.artifacts.filter(({ role }) => role === "exchange"),
      );
    this.#discover(settled);
  }

  #completed(end: TaskEnd, verdict: Verdict<"completed">): void {
    const { settled } = end;
    const { task } = settled;
    claimLanding(this.#context, settled);
    this.#outputs.add(end, this.#runOf(settled), verdict);
    this.#pages.completed(this.#runOf(settled), settled);
    this.#counts.completed(this.#runOf(settled), settled);
    keepCopy(this.#context, settled, verdict.results.length);
    keepFixture(this.#context, settled, this.#settling.now);
    keepRunPage(this.#context, settled, this.#runOf(settled), "completed");
    keepMonitoredPage(this.#context, settled, this.#runOf(settled), this.#settling.now);
    keepTrackedPage(this.#context, settled, this.#settling.now);
    this.#recordCompletion(settled, { records: verdict.results.length });
    this.#discover(settled);
    this.#settling.advance.ended(task, verdict);
    this.#report(settled);
  }

  #failed(settled: SettledTask, verdict: Verdict<"failed">): void {
    const { task, report } = settled;
    this.#discover(settled);
    keepRunPage(this.#context, settled, this.#runOf(settled), "failed");
    this.#report(settled);
    keepMonitoredPage(this.#context, settled, this.#runOf(settled), this.#settling.now);
    const isShown = report?.evidence?.some(({ role }) => role === "screenshot" || role === "snapshot") ?? false;
    this.#recordCompletion(settled, null);
    this.#pages.failed(this.#runOf(settled), settled);
    if (!task.auxiliary) countError(this.#context, task, verdict.failure, isShown);
    this.#settling.advance.ended(task, verdict);
    if (verdict.failure.reason === "task_stopped") dropChildren(this.#context, task, this.#settling.now);
    if (task.runKind === "page" && settled.report?.run === undefined)
      recordFailureFacts(this.#context, task.runId, verdict.failure);
  }

  #sleep(settled: SettledTask, verdict: Verdict<"wait">): void {
    const { deltas, opened, now, advance } = this.#settling;
    if (!putToSleep(this.#context, settled, verdict.sleep, deltas, opened, now)) return;
    advance.touched(settled.task);
    this.#report(settled);
  }

  #askHuman(settled: SettledTask, { failure }: Verdict<"human">): void {
    const meta = { task_id: settled.task.id, failure_code: failure.code, failure_reason: failure.reason };
    const message = `Waiting for a person: ${failure.message}`;
    waitForHuman(this.#context, this.#runOf(settled), message, meta, this.#settling.now);
  }

  #move(settled: SettledTask, verdict: Verdict<"moved">): void {
    const { deltas, opened, now } = this.#settling;
    const { task } = settled;
    const claimed = this.#context.connection.sql(`SELECT 1 FROM tasks t WHERE ${IS_CLAIMED}`).get(...proofOf(task));
    if (claimed === undefined) return void deltas.missed.push(task.row);
    claimLanding(this.#context, settled);
    const [unsharded] = assignLanes(this.#context, [verdict], now) as [LaneAssignment];
    const assignment = assignShard(this.#context, unsharded, keyHash(task.runId, task.key));
    keepTask(this.#context, settled, "queued", deltas, {
      stream: streamId(this.#context, this.#runOf(settled), {
        ...assignment,
        resolver: task.resolver,
        auxiliary: task.auxiliary,
      }),
      url: verdict.url,
      redirects: verdict.redirects,
    });
    this.#report(settled);
    stampIdleLane(this.#context, assignment.lane);
    opened.add(assignment.laneName);
  }

  #discover(settled: SettledTask): void {
    if (settled.report === undefined) return;
    this.#lookups.discoveries.add(this.#runOf(settled), settled);
    this.#counts.links(this.#runOf(settled), settled);
  }

  #recordCompletion({ task }: SettledTask, output: { records: number } | null): void {
    const { run, hooks } = this.#settling.streams.get(task.streamId)!;
    this.#completions.ended(hooks, run, task, output);
  }

  #runOf({ task }: SettledTask): number {
    return (this.#settling.streams.get(task.streamId) as { run: number }).run;
  }

  /** Side effects that an attempt reports with its outcome. */
  #report(settled: SettledTask): void {
    const { task, verdict, attempt, report } = settled;
    if (report === undefined) return;
    const { now } = this.#settling;
    const context = this.#context;
    if (report.learned !== undefined) this.#lookups.learned.learn(report.learned);
    // Without an attempt there is no evidence; and files of a task without a history would collide with its outputs.
    if (report.evidence !== undefined && verdict.kind !== "completed" && attempt !== null)
      this.#outputs.replaceFiles(task, this.#runOf(settled), report.evidence);
    if (report.traps !== undefined) writeTraps(context, task.runId, report.traps);
    if (report.pageMs !== undefined)
      context.connection.sql("UPDATE runs SET page_ms = ? WHERE id = ?").run(report.pageMs, task.runId);
    if (report.cancelRuns !== undefined) cancelRuns(context, report.cancelRuns, "its step no longer waits for it", now);
    if (report.run === undefined && report.events === undefined) return;
    const run = this.#runOf(settled);
    if (report.run !== undefined) mergeFacts(context, run, report.run.facts);
    for (const event of [...(report.run?.events ?? []), ...(report.events ?? [])])
      appendEvent(context, run, event, now);
  }
}

/** `known` is the landing page of a redirect, if another task represents it. */
function planOutcome(plan: Plan, settled: SettledTask, known: string | null): void {
  const { task, verdict } = settled;
  const end = (state: TaskEnd["state"], outcome: unknown) => plan.ends.push({ settled, state, outcome });
  const keep = (state: TaskKept["state"], more: Kept) => plan.keeps.push({ settled, state, more });
  switch (verdict.kind) {
    case "completed":
    case "moved":
      if (known !== null)
        end("skipped", { why: `redirects to ${known}, which is already in this crawl`, alias_of: known });
      else if (verdict.kind === "completed") end("completed", verdict.detail ?? null);
      else plan.dependent.push(settled);
      return;
    case "skipped":
      return void end("skipped", { why: verdict.why });
    case "failed": {
      const memory = settled.report?.memory ?? task.memory;
      return void end("failed", { failure: verdict.failure, ...(memory === null ? {} : { memory }) });
    }
    case "retry":
      return void keep("retrying", {
        tries: task.tries + 1,
        readyAt: verdict.readyAt,
        outcome: { failure: verdict.failure },
        // A step starts every attempt without memory.
        ...(task.runKind === "workflow" ? { memory: null } : {}),
      });
    case "rate_wait":
      return void keep("queued", { waits: task.waits + 1 });
    case "handed_back":
      return void (verdict.readyAt === undefined ? keep("queued", {}) : keep("retrying", { readyAt: verdict.readyAt }));
    case "human":
      return void keep("queued", { outcome: { failure: verdict.failure, human: true } });
    case "wait":
      return void plan.dependent.push(settled);
  }
}

/**
 * Batches of tasks whose outcomes do not depend on each other. A redirected task comes after the outcomes of all tasks
 * for its landing page.
 */
function wavesOf(tasks: readonly SettledTask[]): SettledTask[][] {
  const landed = tasks.some(({ report }) => report?.landed !== undefined);
  let wave: SettledTask[] = [];
  const waves = [wave];
  const inWave = new Set<number | string>();
  for (const settled of tasks) {
    const { row } = settled.task;
    const pages = landed ? pagesOf(settled) : NO_PAGES;
    if (inWave.has(row) || pages.some((page) => inWave.has(page))) {
      waves.push((wave = []));
      inWave.clear();
    }
    wave.push(settled);
    inWave.add(row);
    for (const page of pages) inWave.add(page);
  }
  return waves;
}

const NO_PAGES: readonly string[] = [];

function pagesOf({ task, report }: SettledTask): string[] {
  const keys = new Set([task.key, report?.landed?.key ?? task.key]);
  return [...keys].map((key) => `${task.runId} ${key}`);
}
