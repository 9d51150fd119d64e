import { Turns } from "../../../base/process/event-loop.ts";
import type { Seal } from "../../../base/seal.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { openAddresses } from "../../../domain/text/sealed-text.ts";
import type { StepDefinition, StepResult, WorkflowSnapshot } from "../../../domain/workflow/definition.ts";
import { withArtifactId } from "../../../domain/workflow/output-files.ts";
import { openSecrets } from "../../../domain/workflow/secrets/secrets.ts";
import type { ClaimedTask, Store } from "../../../store/ports/port.ts";
import { opened } from "../opened.ts";
import type { StepDeps } from "./step-deps.ts";

/** Outputs of earlier steps; they do not change once the step has begun. */
export interface Before {
  /** By name; empty for a skipped step. */
  outputs: Readonly<Record<string, JsonValue>>;
  /** By index; null for a skipped step. */
  results: ReadonlyMap<number, StepResult | null>;
}

interface KnownResult {
  taskId: string;
  result: StepResult | null;
}

/** In characters of JSON: larger outputs are not cached, but read by each step that depends on them. */
const MAX_CACHED_LENGTH = 4096;

/** One generation of a workflow run, as its steps see it. */
export class StepRun {
  readonly id: string;
  readonly name: string;
  readonly jobId: string | null;
  readonly generation: number;
  /** With sealed secrets. */
  readonly definition: WorkflowSnapshot["definition"];
  readonly #sealedParams: WorkflowSnapshot["params"];
  readonly #store: Store;
  readonly #seal: Seal;
  #params: WorkflowSnapshot["params"] | null = null;
  /** Its cost in the cache. */
  readonly weight: number;
  /** Results of ended steps by index: final within a generation. */
  readonly #results = new Map<number, KnownResult>();
  /** Cached for steps with a list: thousands of entries read the same. */
  readonly #before = new Map<number, Promise<Before>>();

  constructor(
    { store, seal }: Pick<StepDeps, "store" | "seal">,
    run: Pick<StepRun, "id" | "jobId" | "generation">,
    snapshot: WorkflowSnapshot,
  ) {
    this.#store = store;
    this.#seal = seal;
    this.id = run.id;
    this.jobId = run.jobId;
    this.generation = run.generation;
    this.definition = snapshot.definition;
    this.#sealedParams = snapshot.params;
    this.name = snapshot.definition.name;
    this.weight = snapshot.definition.steps.length + Math.ceil(JSON.stringify(snapshot).length / MAX_CACHED_LENGTH);
  }

  /** With sealed secrets. */
  step(index: number): StepDefinition {
    return this.definition.steps[index] as StepDefinition;
  }

  /** In clear text. Throws a FetchFailure when the key has changed. */
  get params(): WorkflowSnapshot["params"] {
    this.#params ??= opened(() => openSecrets(this.#seal, this.definition.params, this.#sealedParams));
    return this.#params;
  }

  /** The condition and the list of a step, in clear text. */
  openedControl(index: number): Pick<StepDefinition, "when" | "for_each"> {
    const { when, for_each } = this.step(index);
    return opened(() => openAddresses(this.#seal, { when, for_each }));
  }

  /** The params of a step as written, in clear text. */
  openedParams(index: number, schema: JsonValue): StepDefinition["params"] {
    return opened(() => openSecrets(this.#seal, schema, this.step(index).params));
  }

  before(index: number): Promise<Before> {
    if (this.step(index).for_each === null) return this.#read(index);
    let before = this.#before.get(index);
    if (before === undefined) {
      before = this.#read(index);
      this.#before.set(index, before);
      before.catch(() => this.#before.delete(index));
    }
    return before;
  }

  async #read(index: number): Promise<Before> {
    const wanted = this.#ancestors(index);
    const unknown = wanted.filter((at) => !this.#results.has(at));
    const large = new Map<number, KnownResult>();
    for (const step of unknown.length === 0 ? [] : await this.#store.steps(this.id, unknown)) {
      const result = step.task.state === "completed" ? (step.task.detail as StepResult) : null;
      const isSmall = result === null || JSON.stringify(result.output).length <= MAX_CACHED_LENGTH;
      (isSmall ? this.#results : large).set(step.index, { taskId: step.task.id, result });
    }
    const outputs: Record<string, JsonValue> = {};
    const results = new Map<number, StepResult | null>();
    for (const at of wanted) {
      const { taskId = "", result = null } = this.#results.get(at) ?? large.get(at) ?? {};
      results.set(at, result);
      const output = result?.output ?? {};
      // Not cached: a step in between may have dropped the file.
      const files = Object.hasOwn(output, "artifact_hash") ? await this.#store.artifactsOf(taskId) : [];
      outputs[this.step(at).name] = withArtifactId(output, files);
    }
    return { outputs, results };
  }

  /** All transitive dependencies, in order. */
  #ancestors(index: number): readonly number[] {
    const found = new Set<number>();
    const open = [...this.step(index).dependencies];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (found.has(at)) continue;
      found.add(at);
      open.push(...this.step(at).dependencies);
    }
    return [...found].sort((a, b) => a - b);
  }
}

/**
 * How many steps are cached over all workflows; long params count as steps. Workflows take turns: with fewer cached
 * than running at once, each step would read its whole workflow again.
 */
const MAX_WEIGHT = 20_000;

/** Caches the workflows that this process runs steps of. */
export class StepRuns {
  readonly #deps: Pick<StepDeps, "store" | "seal">;
  readonly #known = new Map<string, StepRun>();
  #weight = 0;

  constructor(deps: Pick<StepDeps, "store" | "seal">) {
    this.#deps = deps;
  }

  /** The run of a claimed step; null: it no longer exists. */
  async find({ runId, generation }: Pick<ClaimedTask, "runId" | "generation">): Promise<StepRun | null> {
    let known = this.#known.get(runId);
    if (known?.generation !== generation) {
      const { store } = this.#deps;
      const turns = new Turns();
      const run = await store.run(runId);
      const snapshot = await store.workflowSnapshot(runId);
      if (run === null || snapshot === null) return null;
      await turns.after();
      known = new StepRun(this.#deps, run, snapshot as WorkflowSnapshot);
      await turns.after();
    }
    this.#forget(runId);
    this.#known.set(runId, known);
    this.#weight += known.weight;
    for (const oldest of this.#known.keys()) {
      if (this.#weight <= MAX_WEIGHT || oldest === runId) break;
      this.#forget(oldest);
    }
    return known;
  }

  #forget(runId: string): void {
    this.#weight -= this.#known.get(runId)?.weight ?? 0;
    this.#known.delete(runId);
  }
}
