import { type Failure, FetchFailure, failure } from "../../../domain/run/failure.ts";
import type { Handled, TaskArtifact } from "../../../domain/run/outcome.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { withoutSecrets } from "../../../domain/text/sealed-text.ts";
import { STEP_RETRY, type StepPayload, type StepResult } from "../../../domain/workflow/definition.ts";
import { isTrue, ResolveError, resolveParams } from "../../../domain/workflow/expression.ts";
import { ExpressionError } from "../../../domain/workflow/expression-syntax.ts";
import { completeParams } from "../../../domain/workflow/params-check.ts";
import { openEntry } from "../../../domain/workflow/sealed-entries.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import { untilAborted, writeItems } from "../../../workflows/items/items-file.ts";
import { stepFiles } from "../../../workflows/step-files.ts";
import type { StepFiles, StepKind } from "../../../workflows/step-kind.ts";
import type { Asleep, HandlerContext, TaskHandler } from "../handler.ts";
import { opened } from "../opened.ts";
import { childrenOf } from "./step-children.ts";
import { scopeOf, stepContext, type StepTry } from "./step-context.ts";
import { expandList, gatherEntries } from "./step-for-each.ts";
import type { StepDeps } from "./step-deps.ts";
import { checkedOutput, type Ended } from "./step-ends.ts";
import { memoryOf, type StepMemory } from "./step-memory.ts";
import { SavedFiles } from "./step-saved.ts";
import { StepProgress } from "./step-progress.ts";
import { StepRuns } from "./step-runs.ts";
import { stepTimeout, withinBounds } from "./step-time.ts";

/** Executes the steps of workflows. */
export function stepHandler(deps: StepDeps): TaskHandler {
  const runs = new StepRuns(deps);
  return {
    strategy: "step",
    run: (task, context) => new StepWork(deps, runs, task, context).handled(),
    // Steps have no site whose other tasks would have to wait as well.
    retryRules: (usual) => ({ ...usual, backoff: STEP_RETRY, rateLimitMaxWaits: null }),
  };
}

/** One attempt at one step, or the part of it between two sleeps. */
class StepWork {
  readonly #deps: StepDeps;
  readonly #runs: StepRuns;
  readonly #task: ClaimedTask;
  readonly #context: HandlerContext;
  readonly #payload: StepPayload;

  constructor(deps: StepDeps, runs: StepRuns, task: ClaimedTask, context: HandlerContext) {
    this.#deps = deps;
    this.#runs = runs;
    this.#task = task;
    this.#context = context;
    this.#payload = opened(() => openEntry(deps.seal, task.payload as StepPayload));
  }

  async handled(): Promise<Handled | Asleep> {
    const run = await this.#runs.find(this.#task);
    if (run === null) return { kind: "handed_back", why: "the run was deleted" };
    const memory = memoryOf(this.#task, run.generation);
    const childRuns = await this.#deps.store.childRuns(this.#task.id);
    const before = await run.before(this.#payload.step);
    const childrenBefore = memory?.childrenBefore ?? childRuns.length;
    const children = await childrenOf(this.#deps.store, childRuns.slice(childrenBefore));
    const attempt: StepTry = { task: this.#task, run, payload: this.#payload, before, memory, children };
    const saved = new SavedFiles(this.#deps.store, this.#context.log);
    let artifacts: readonly TaskArtifact[] = [];
    // An attempt that slept began before its sleep.
    const began = memory === null ? {} : { startedAt: memory.startedAt };
    const report = { strategy: run.step(this.#payload.step).task_type, ...began };
    try {
      const handled = await this.#withinTime(attempt, childrenBefore, saved);
      if (handled.kind === "completed") artifacts = handled.artifacts;
      return handled.kind === "asleep" ? handled : { ...handled, report };
    } catch (error) {
      const failed = failureOf(error);
      if (failed === null) throw error;
      // Its live child runs are no longer wanted.
      return { kind: "failed", failure: failed, report: { ...report, cancelRuns: children.live } };
    } finally {
      await saved.close(artifacts);
    }
  }

  async #withinTime(attempt: StepTry, childrenBefore: number, saved: SavedFiles): Promise<Handled | Asleep> {
    const { clock } = this.#deps;
    const { run, memory } = attempt;
    const step = run.step(this.#payload.step);
    // The timeout of a step with a list applies to each entry.
    const isList = step.for_each !== null && this.#payload.item === undefined;
    const seconds = isList ? null : step.timeout;
    const left = seconds === null ? null : await this.#timeLeft(attempt, seconds);
    // The awaited event has precedence over the deadline: it happened in time.
    const arrived = memory !== null && attempt.children.live.length === 0 && isDue(memory, clock.now());
    if (left !== null && left <= 0 && !arrived) throw stepTimeout(seconds);
    const leftMs = left === null ? null : Math.max(left, arrived ? GATHER_GRACE_MS : 0);
    const begun = clock.monotonic();
    const now = clock.now();
    const progress = new StepProgress(clock, (update) => this.#noteProgress(update));
    const { signal } = this.#context;
    try {
      return await withinBounds({ clock, signal, leftMs, seconds }, async (bounded) => {
        const files = this.#files(attempt, saved);
        const end = isList
          ? await this.#list(attempt, files, bounded)
          : await this.#runKind(attempt, files, bounded, progress);
        if (end.kind !== "wait") return this.#ended(end, files, bounded);
        const leftToSleep = left === null ? null : left - (clock.monotonic() - begun);
        if (leftToSleep !== null && leftToSleep <= 0) throw stepTimeout(seconds);
        const until = end.until ?? null;
        const child =
          end.child === undefined ? null : await this.#deps.children.prepare(end.child, this.#name(attempt));
        const forRun = child !== null || attempt.children.live.length > 0;
        const { generation } = run;
        const { tries } = this.#task;
        const startedAt = memory?.startedAt ?? now;
        const kept: StepMemory = { generation, tries, startedAt, forRun, until, childrenBefore, kind: end.memory };
        return {
          kind: "asleep",
          sleep: {
            memory: { ...kept },
            until,
            ...(leftToSleep === null ? {} : { leftMs: leftToSleep }),
            ...(child === null ? {} : { child }),
            ...(end.items === undefined ? {} : { items: end.items }),
          },
        };
      });
    } finally {
      await progress.stop();
    }
  }

  /** Neither a changed wall clock, nor a paused workflow, nor downtime uses up any of it. */
  async #timeLeft({ memory }: StepTry, seconds: number): Promise<number> {
    const { store, clock } = this.#deps;
    const left = memory === null ? null : await store.stepTimeLeft(this.#task.id, clock.now());
    return left ?? seconds * 1000;
  }

  /** The list of a `for_each`: expanded first, and gathered when all entries have ended. */
  async #list(attempt: StepTry, files: StepFiles, signal: AbortSignal): Promise<Ended> {
    const { run, before, memory } = attempt;
    const { hold } = this.#context;
    if (memory !== null) return gatherEntries(this.#deps, attempt, { hold, files, signal });
    const skip = this.#skipped(attempt);
    if (skip !== null) return skip;
    return expandList(this.#deps, { run, before, payload: this.#payload, files, hold, task: this.#task, signal });
  }

  async #runKind(attempt: StepTry, files: StepFiles, signal: AbortSignal, progress: StepProgress): Promise<Ended> {
    const { run, before, memory, payload } = attempt;
    const step = run.step(payload.step);
    if (memory === null && payload.item === undefined) {
      const skip = this.#skipped(attempt);
      if (skip !== null) return skip;
    }
    // Woken before the awaited event: the step sleeps again.
    if (attempt.children.live.length > 0)
      return { kind: "wait", memory: memory?.kind ?? null, until: this.#deps.clock.now() + RECHECK_MS };
    const kind = this.#deps.kinds.find(step.task_type);
    if (kind === undefined)
      throw new FetchFailure("handler_missing", `there is no kind of step named ${step.task_type}`);
    const written = run.openedParams(payload.step, kind.params);
    const resolved = resolveParams(written, scopeOf(run, before, payload));
    const params = checkedParams(kind, resolved, Object.keys(before.outputs));
    const context = stepContext(this.#deps, attempt, { signal, log: this.#context.log, files, progress });
    return (kind as StepKind).run(context, params);
  }

  #skipped({ run, before, payload }: StepTry): Ended | null {
    const { when } = run.openedControl(payload.step);
    if (when === null || isTrue(when, scopeOf(run, before, payload))) return null;
    return { kind: "skip", why: `its condition is not met: ${withoutSecrets(when)}` };
  }

  async #ended(end: Exclude<Ended, { kind: "wait" }>, files: StepFiles, signal: AbortSignal): Promise<Handled> {
    if (end.kind === "skip") return { kind: "skipped", why: end.why };
    const artifacts: TaskArtifact[] = [];
    let items: StepResult["items"] = null;
    if (end.items !== undefined) {
      const written = await writeItems(files, "items.jsonl", untilAborted(end.items, signal));
      items = written.items;
      if (written.file !== null) artifacts.push({ ...written.file, role: "items" });
    }
    const output = checkedOutput(end.output);
    const detail: StepResult = { output, items };
    return { kind: "completed", artifacts: [...artifacts, ...(end.files ?? [])], results: [], detail };
  }

  #files({ run, payload }: StepTry, saved: SavedFiles): StepFiles {
    const entry = payload.item === undefined ? "" : `/${payload.item.index}`;
    const origin = `step:${encodeURIComponent(run.step(payload.step).name)}${entry}`;
    return stepFiles(this.#deps.artifacts, origin, (hash) => saved.add(hash));
  }

  #name({ run, payload }: StepTry): string {
    const entry = payload.item === undefined ? "" : ` [${payload.item.index}]`;
    return `${run.name}: ${run.step(payload.step).name}${entry}`;
  }

  async #noteProgress(progress: { fraction: number; message: string | null }): Promise<void> {
    // The progress of a step with a list is the number of its ended entries.
    if (this.#payload.item !== undefined) return;
    await this.#deps.store.noteStepProgress(this.#context.hold, this.#task, progress, this.#deps.clock.now());
  }
}

const RECHECK_MS = 30_000;
/** After its timeout, a step may still process what it waited for. */
const GATHER_GRACE_MS = 5000;
const MAX_REPORTED_FAULTS = 5;

/** The awaited time has come; a step that waits for runs is only asked when none is live. */
function isDue({ forRun, until }: StepMemory, now: number): boolean {
  return forRun || (until !== null && now >= until);
}

/** Expressions may have produced any params: params that the kind does not accept fail the step permanently. */
function checkedParams(
  kind: StepKind,
  params: Readonly<Record<string, JsonValue>>,
  earlier: readonly string[],
): Record<string, JsonValue> {
  const { ok, errors } = completeParams(kind.params, params);
  const faults = ok === undefined ? errors : (kind.check?.(ok, earlier) ?? []);
  if (ok !== undefined && faults.length === 0) return ok;
  const messages = faults.slice(0, MAX_REPORTED_FAULTS).map(({ path, message }) => `${path}: ${message}`);
  throw new FetchFailure("step_params", messages.join("; "));
}

/** A failure of the step itself; null: another cause, such as a full disk or a process that stops. */
function failureOf(error: unknown): Failure | null {
  if (error instanceof FetchFailure) return error.failure.reason === "run_cancelled" ? null : error.failure;
  if (error instanceof ResolveError) return failure("step_params", error.message);
  if (error instanceof ExpressionError) return failure("step_params", `when: ${error.message}`);
  return null;
}
