/** What is written of the outcomes of tasks, for many of them at once. */
import type { SettledTask } from "../../ports/port.ts";
import { appendEvent, type Context, keyHash, mergeFacts, stampIdleLane } from "../kernel/context.ts";
import { claimLanding, knownLandings, markRepetitions, writeTraps } from "../crawls/frontier.ts";
import { Discoveries } from "../crawls/grow-run.ts";
import { type LaneAssignment, assignLanes, assignShard, streamId } from "../lanes/lane-assignments.ts";
import { cancelRuns } from "../runs/move-run.ts";
import { keepCopy } from "../crawls/page-copies.ts";
import { PageCounts } from "../crawls/page-counts.ts";
import { PageStates } from "../crawls/page-states.ts";
import { countError, tellFailure } from "../runs/run-errors.ts";
import { waitForHuman } from "../runs/run-ends.ts";
import { Lessons } from "../sites/sites.ts";
import { dropChildren } from "./stop-task.ts";
import type { CounterDeltas } from "./counter-deltas.ts";
import type { Advance } from "../workflows/workflow-advance.ts";
import { PageCompletions } from "../catalog/webhooks.ts";
import { fallAsleep } from "../workflows/workflow-sleep.ts";
import {
  endTasks,
  IN_HAND,
  type Kept,
  keepTask,
  keepTasks,
  proofOf,
  type TaskEnd,
  type TaskKept,
} from "./write-task.ts";
import { Outputs } from "./write-outputs.ts";

/** The runs of streams, by the number of the stream; `hooks` is what is written down whenever a page ends. */
export type StreamsOfTasks = ReadonlyMap<number, { run: number; closed: boolean; hooks: string | null }>;

interface Surroundings {
  streams: StreamsOfTasks;
  deltas: CounterDeltas;
  advance: Advance;
  /** Lanes that get work. */
  opened: Set<string>;
  now: number;
}

type Verdict<Kind extends SettledTask["verdict"]["kind"]> = Extract<SettledTask["verdict"], { kind: Kind }>;

/** What is to become of the rows of tasks, each of another one. */
interface Plan {
  ends: TaskEnd[];
  keeps: TaskKept[];
  /** What cannot be said before others are written. */
  alone: SettledTask[];
}

export class Outcomes {
  readonly #context: Context;
  readonly #around: Surroundings;
  readonly #discoveries = new Discoveries();
  readonly #lessons: Lessons;
  readonly #counts: PageCounts;
  readonly #pages: PageStates;
  readonly #completions: PageCompletions;
  #outputs: Outputs;

  constructor(context: Context, around: Surroundings) {
    this.#context = context;
    this.#around = around;
    this.#lessons = new Lessons(context, around.now);
    this.#counts = new PageCounts(context);
    this.#pages = new PageStates(context);
    this.#completions = new PageCompletions(context, around.now);
    this.#outputs = new Outputs(context, around.now);
  }

  settle(tasks: readonly SettledTask[]): void {
    for (const wave of wavesOf(tasks)) this.#settleWave(wave);
    // Behind all outcomes: what a page turned out to be is not added as another one.
    const { deltas, opened, now } = this.#around;
    for (const lane of this.#discoveries.write(this.#context, deltas, now)) opened.add(lane);
    this.#counts.write();
    this.#pages.write();
    this.#lessons.write();
    this.#completions.write();
  }

  #settleWave(wave: readonly SettledTask[]): void {
    const { deltas, now } = this.#around;
    const known = knownLandings(this.#context, wave);
    const plan: Plan = { ends: [], keeps: [], alone: [] };
    for (const settled of wave) addTo(plan, settled, known.get(settled)?.url ?? null);
    markRepetitions(this.#context, plan.ends, (settled) => this.#runOf(settled));
    const ended = endTasks(this.#context, plan.ends, deltas, now);
    const kept = keepTasks(this.#context, plan.keeps, deltas);
    this.#outputs = new Outputs(this.#context, now);
    // Nothing follows where it was not ours to write.
    for (const [index, end] of plan.ends.entries()) if (ended[index] === true) this.#afterEnd(end);
    for (const [index, { settled }] of plan.keeps.entries()) if (kept[index] === true) this.#afterKeeping(settled);
    for (const settled of plan.alone) this.#settleAlone(settled);
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
      this.#around.advance.ended(settled.task, verdict);
    } else this.#skippedAlias(settled);
    this.#report(settled);
  }

  #afterKeeping(settled: SettledTask): void {
    const { verdict } = settled;
    if (verdict.kind === "retry") {
      this.#around.advance.retries(settled.task, verdict);
      this.#discover(settled);
    }
    this.#report(settled);
    if (verdict.kind === "human") this.#askHuman(settled, verdict);
  }

  #settleAlone(settled: SettledTask): void {
    const { verdict } = settled;
    if (verdict.kind === "wait") this.#sleep(settled, verdict);
    if (verdict.kind === "moved") this.#move(settled, verdict);
  }

  /**
   * A page that turned out to be another, which has a task already: there is no second result. What it leads to is added
   * all the same, as the other may have been read at another time, or not yet.
   */
  #skippedAlias(settled: SettledTask): void {
    const { task, verdict } = settled;
    if (verdict.kind === "completed")
      // What servers sent on the way is this page's own.
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
    this.#tell(settled, { records: verdict.results.length });
    this.#discover(settled);
    this.#around.advance.ended(task, verdict);
    this.#report(settled);
  }

  #failed(settled: SettledTask, verdict: Verdict<"failed">): void {
    const { task, report } = settled;
    this.#discover(settled);
    this.#report(settled);
    const isShown = report?.evidence?.some(({ role }) => role === "screenshot" || role === "snapshot") ?? false;
    this.#tell(settled, null);
    if (task.runKind === "crawl" && !task.auxiliary) {
      if (verdict.failure.reason === "http_not_found") this.#pages.missing(this.#runOf(settled), settled);
      if (verdict.failure.reason === "robots_disallowed") this.#pages.disallowed(this.#runOf(settled), settled);
    }
    if (!task.auxiliary) countError(this.#context, task, verdict.failure, isShown);
    this.#around.advance.ended(task, verdict);
    if (verdict.failure.reason === "task_stopped") dropChildren(this.#context, task, this.#around.now);
    if (task.runKind === "page" && settled.report?.run === undefined)
      tellFailure(this.#context, task.runId, verdict.failure);
  }

  #sleep(settled: SettledTask, verdict: Verdict<"wait">): void {
    const { deltas, opened, now, advance } = this.#around;
    if (!fallAsleep(this.#context, settled, verdict.sleep, deltas, opened, now)) return;
    advance.touched(settled.task);
    this.#report(settled);
  }

  #askHuman(settled: SettledTask, { failure }: Verdict<"human">): void {
    const meta = { task_id: settled.task.id, failure_code: failure.code, failure_reason: failure.reason };
    const message = `Waiting for a person: ${failure.message}`;
    waitForHuman(this.#context, this.#runOf(settled), message, meta, this.#around.now);
  }

  #move(settled: SettledTask, verdict: Verdict<"moved">): void {
    const { deltas, opened, now } = this.#around;
    const { task } = settled;
    const inHand = this.#context.connection.sql(`SELECT 1 FROM tasks t WHERE ${IN_HAND}`).get(...proofOf(task));
    if (inHand === undefined) return void deltas.missed.push(task.row);
    claimLanding(this.#context, settled);
    const [home] = assignLanes(this.#context, [verdict], now) as [LaneAssignment];
    const assignment = assignShard(this.#context, home, keyHash(task.runId, task.key));
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
    this.#discoveries.add(this.#runOf(settled), settled);
    this.#counts.links(this.#runOf(settled), settled);
  }

  #tell({ task }: SettledTask, gave: { records: number } | null): void {
    const { run, hooks } = this.#around.streams.get(task.streamId)!;
    this.#completions.ended(hooks, run, task, gave);
  }

  #runOf({ task }: SettledTask): number {
    return (this.#around.streams.get(task.streamId) as { run: number }).run;
  }

  /** What an attempt tells beside its outcome. */
  #report(settled: SettledTask): void {
    const { task, verdict, attempt, report } = settled;
    if (report === undefined) return;
    const { now } = this.#around;
    const context = this.#context;
    if (report.learned !== undefined) this.#lessons.learn(report.learned);
    // Without an attempt nothing was seen; and files of a task without a history would stand in the way of its yield.
    if (report.evidence !== undefined && verdict.kind !== "completed" && attempt !== null)
      this.#outputs.replaceFiles(task, this.#runOf(settled), report.evidence);
    if (report.traps !== undefined) writeTraps(context, task.runId, report.traps);
    if (report.pageMs !== undefined)
      context.connection.sql("UPDATE runs SET page_ms = ? WHERE id = ?").run(report.pageMs, task.runId);
    if (report.cancelRuns !== undefined) cancelRuns(context, report.cancelRuns, "its step waits for it no more", now);
    if (report.run === undefined && report.events === undefined) return;
    const run = this.#runOf(settled);
    if (report.run !== undefined) mergeFacts(context, run, report.run.facts);
    for (const event of [...(report.run?.events ?? []), ...(report.events ?? [])])
      appendEvent(context, run, event, now);
  }
}

/** `known` is the page that a redirect led to, if another task stands for it. */
function addTo(plan: Plan, settled: SettledTask, known: string | null): void {
  const { task, verdict } = settled;
  const end = (state: TaskEnd["state"], outcome: unknown) => plan.ends.push({ settled, state, outcome });
  const keep = (state: TaskKept["state"], more: Kept) => plan.keeps.push({ settled, state, more });
  switch (verdict.kind) {
    case "completed":
    case "moved":
      if (known !== null)
        end("skipped", { why: `redirects to ${known}, which is in this crawl already`, alias_of: known });
      else if (verdict.kind === "completed") end("completed", verdict.detail ?? null);
      else plan.alone.push(settled);
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
        // A step begins each try anew.
        ...(task.runKind === "workflow" ? { memory: null } : {}),
      });
    case "rate_wait":
      return void keep("queued", { waits: task.waits + 1 });
    case "handed_back":
      return void (verdict.readyAt === undefined ? keep("queued", {}) : keep("retrying", { readyAt: verdict.readyAt }));
    case "human":
      return void keep("queued", { outcome: { failure: verdict.failure, human: true } });
    case "wait":
      return void plan.alone.push(settled);
  }
}

/**
 * Tasks whose outcomes do not depend on each other. One that was redirected to a page waits for what becomes of the others
 * that are that page, or were redirected there.
 */
function wavesOf(tasks: readonly SettledTask[]): SettledTask[][] {
  const landed = tasks.some(({ report }) => report?.landed !== undefined);
  let wave: SettledTask[] = [];
  const waves = [wave];
  const taken = new Set<number | string>();
  for (const settled of tasks) {
    const { row } = settled.task;
    const pages = landed ? pagesOf(settled) : NONE;
    if (taken.has(row) || pages.some((page) => taken.has(page))) {
      waves.push((wave = []));
      taken.clear();
    }
    wave.push(settled);
    taken.add(row);
    for (const page of pages) taken.add(page);
  }
  return waves;
}

const NONE: readonly string[] = [];

function pagesOf({ task, report }: SettledTask): string[] {
  const keys = new Set([task.key, report?.landed?.key ?? task.key]);
  return [...keys].map((key) => `${task.runId} ${key}`);
}
