/** A workflow in a real store, beside the model of it: each action happens to both. */
import assert from "node:assert/strict";
import { isOrbError } from "../../src/base/errors.ts";
import { failure } from "../../src/domain/run/failure.ts";
import type { RunState, TaskState } from "../../src/domain/run/states.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import type { ClaimedTask, RunRecord, Settled, Store } from "../../src/store/ports/port.ts";
import { attempt, candidate, DONE, FAILED, newTask, SKIPPED, TTL, type Verdict } from "../contract/store/kit.ts";
import { type Step, type Unit, unit, WorkflowModel } from "./workflow-rules.ts";

export const VERDICTS = ["completed", "skipped", "failed", "retry", "handed_back", "time", "child", "list"] as const;

export type Action =
  | { do: "take" | "childEnds"; pick: number }
  | { do: "settle"; pick: number; verdict: (typeof VERDICTS)[number]; entries: number; stop: boolean }
  | { do: "crash" | "start" | "pause" | "resume" | "cancel" | "takeUp" | "sweep" }
  | { do: "recover"; from: number | null }
  | { do: "pass"; ms: number };

const WAIT_MS = 100;
const SLOTS = 2;
export class WorkflowWorld extends WorkflowModel {
  readonly store: Store;
  readonly times: { wall: number; mono: number };
  run!: RunRecord;
  engine = 0;

  constructor(store: Store, times: { wall: number; mono: number }, graph: readonly (readonly number[])[]) {
    super(graph);
    this.store = store;
    this.times = times;
  }

  get now(): number {
    return this.times.wall;
  }

  get owner(): string {
    return `owner-${this.engine}`;
  }

  async begin(): Promise<void> {
    const steps = this.steps.map(({ name, dependencies }) => ({
      name,
      kind: "wait",
      dependencies,
      maxRetries: 0,
      estimatedMs: null,
    }));
    const workflow = {
      steps,
      start: false,
      metadata: {},
      maxRecoveryAttempts: 2,
      template: null,
      rerunOf: null,
      similarityKey: "",
    };
    const started = await this.store.startRun(
      { kind: "workflow", name: "w", maxAttempts: null, snapshot: null, workflow },
      [],
      this.now,
    );
    this.run = started.created;
    await this.act({ do: "crash" });
  }

  async act(what: Action): Promise<void> {
    switch (what.do) {
      case "take":
        return this.take(pickOf(this.units(), what.pick));
      case "settle": {
        const held = this.units().filter(({ hold }) => hold !== null);
        return this.settle(pickOf(held, what.pick), what);
      }
      case "childEnds":
        return this.childEnds(pickOf([...this.children.keys()], what.pick));
      case "crash": {
        // Another process becomes the engine: every lease of the one before ends.
        this.engine += 1;
        const before = await this.store.engineHolder();
        await this.store.takeEngine(candidate(this.owner), TTL, before?.id);
        return;
      }
      case "start": {
        const { run } = await this.store.startWorkflow(this.run.id, this.now);
        if (this.status === "queued") this.toRunning();
        assert.equal(run.status, this.status);
        return;
      }
      case "pause":
        return this.change("paused", ["queued", "running"]);
      case "resume":
        return this.change("running", ["queued", "paused"]);
      case "cancel":
        return this.change("cancelled", ["queued", "running", "paused", "recovering"]);
      case "recover":
        return this.recover(what.from === null ? null : what.from % this.steps.length);
      case "takeUp":
        return this.takeUp();
      case "sweep":
        await this.store.sweepEnded(3, this.now);
        return;
      case "pass":
        this.times.wall += what.ms;
        this.times.mono += what.ms;
    }
  }

  async take(one: Unit | undefined): Promise<void> {
    if (one === undefined) return;
    const step = this.stepOf(one);
    const lane = laneOfStep(this.run.id, step.index, one.slot ?? undefined);
    const grant = await this.store.takeLane(lane, this.owner, TTL);
    // Somebody living has it.
    if (grant === null) return assert.equal(one.hold?.grant.owner, this.owner);
    if (one.state === "running") one.state = "queued";
    one.hold = null;
    const claim = await this.store.claim(grant, { limit: 10 }, this.now);
    if (this.status === "running" && one.state === "retrying" && one.readyAt <= this.now) one.state = "queued";
    const ready = this.status === "running" && one.state === "queued";
    assert.equal(claim?.tasks.length, ready ? 1 : 0, `${one.name} is ${one.state} in a run that is ${this.status}`);
    if (!ready) return this.store.releaseLane(grant);
    one.state = "running";
    one.sleepsFor = null;
    one.hold = { grant, task: claim?.tasks[0] as ClaimedTask };
  }

  async settle(one: Unit | undefined, what: Extract<Action, { do: "settle" }>): Promise<void> {
    if (one?.hold === null || one === undefined) return;
    const { grant, task } = one.hold;
    const step = this.stepOf(one);
    const isLost = grant.owner !== this.owner;
    // An entry has no list of its own.
    const kind = what.verdict === "list" && one !== step ? "time" : what.verdict;
    if (kind === "list") await this.expand(step, what.entries, isLost);
    const verdict = this.verdictOf(kind, what.stop);
    const tried = ["completed", "skipped", "failed", "retry"].includes(kind) ? attempt(task.tries + 1) : null;
    const settled = await this.store.settle([{ hold: grant, tasks: [{ task, verdict, attempt: tried }] }], this.now);
    one.hold = null;
    await this.store.releaseLane(grant);
    assert.deepEqual(settled.lost, isLost ? [grant.laneId] : []);
    if (isLost) return;
    // Its step has ended without it, or its run has.
    if (one.state !== "running" || this.isOver) {
      assert.deepEqual(settled.dropped, [task.row]);
      if (one.state === "running") one.state = "cancelled";
      return;
    }
    await this.settled(one, step, kind, what.stop, settled);
  }

  verdictOf(kind: (typeof VERDICTS)[number], stopAtFailure: boolean): Verdict {
    const readyAt = this.now + WAIT_MS;
    const child = { run: { kind: "page", maxAttempts: 1, snapshot: null }, tasks: [newTask("p")] } as const;
    switch (kind) {
      case "completed":
        return DONE;
      case "skipped":
        return SKIPPED;
      case "failed":
        return FAILED;
      case "handed_back":
        return { kind };
      case "retry":
        return { kind, failure: failure("internal", "oh"), readyAt };
      case "time":
        return { kind: "wait", sleep: { memory: null, until: readyAt } };
      case "child":
        return { kind: "wait", sleep: { memory: null, until: null, child } };
      case "list":
        return { kind: "wait", sleep: { memory: null, until: null, items: { concurrency: SLOTS, stopAtFailure } } };
    }
  }

  /** Each expansion is of another list, so that nothing of the one before is left in the model. */
  async expand(step: Step, count: number, isLost: boolean): Promise<void> {
    const { grant, task } = step.hold as NonNullable<Unit["hold"]>;
    const values = Array.from({ length: count }, (_, index) => index);
    const part = {
      listHash: `${step.name} ${this.now} ${task.tries} ${Math.max(0, step.entries.length)}`,
      first: 0,
      values,
    };
    this.times.wall += 1;
    const added = await this.store.addStepItems(grant, task, part, this.now);
    assert.equal(added, isLost || this.isOver ? null : true);
    if (added === true) step.entries = values.map((index) => unit(`${step.name}[${index}]`));
  }

  async settled(
    one: Unit,
    step: Step,
    kind: (typeof VERDICTS)[number],
    stop: boolean,
    settled: Settled,
  ): Promise<void> {
    switch (kind) {
      case "handed_back":
        one.state = "queued";
        return;
      case "retry":
      case "time":
        Object.assign(one, { state: "retrying", readyAt: this.now + WAIT_MS, sleepsFor: null });
        if (kind === "retry" && one === step) this.closeEntries(step);
        return;
      case "child": {
        const [child] = await this.store.runs({ kind: "page", limit: 1 });
        assert.ok(child !== undefined && !this.children.has(child.id), "there is one child more");
        this.children.set(child.id, one);
        Object.assign(one, { state: "retrying", readyAt: Number.POSITIVE_INFINITY, sleepsFor: { run: child.id } });
        return;
      }
      case "list":
        step.stop = stop;
        Object.assign(step, { state: "retrying", readyAt: Number.POSITIVE_INFINITY, sleepsFor: "items" });
        for (let slot = 0; slot < SLOTS; slot += 1) this.giveSlot(step, slot);
        this.wakeIfDone(step);
        return;
      default:
        one.state = kind;
        if (one === step) this.stepEnded(step);
        else {
          const slot = one.slot as number;
          one.slot = null;
          this.giveSlot(step, slot);
          this.wakeIfDone(step);
        }
        assert.deepEqual(
          settled.ended.map(({ status }) => status),
          this.isOver ? [this.status] : [],
        );
    }
  }

  async change(to: RunState, from: readonly RunState[]): Promise<void> {
    try {
      await this.store.changeRun(this.run.id, to, `Run ${to}`, this.now);
      assert.ok(from.includes(this.status), `${this.status} became ${to}`);
    } catch (error) {
      if (!isOrbError(error, "illegal_transition")) throw error;
      assert.ok(!from.includes(this.status), `${this.status} did not become ${to}`);
      return;
    }
    if (to === "running") return this.toRunning();
    this.status = to;
    if (to === "cancelled") this.children.clear();
  }

  async childEnds(child: string | undefined): Promise<void> {
    if (child === undefined) return;
    const one = this.children.get(child) as Unit;
    await this.store.changeRun(child, "cancelled", "Run cancelled", this.now);
    this.children.delete(child);
    Object.assign(one, { state: "queued", sleepsFor: null });
  }

  async recover(from: number | null): Promise<void> {
    const blocked = from !== null && this.steps[from]?.dependencies.some((index) => !this.steps[index]?.endedWell);
    try {
      await this.store.recoverWorkflow(this.run.id, from, this.now);
    } catch (error) {
      if (isOrbError(error, "illegal_transition")) return assert.notEqual(this.status, "failed");
      if (isOrbError(error, "recovery_exhausted")) return assert.equal(this.recoveries, 2);
      assert.ok(isOrbError(error, "input_invalid") && blocked === true, String(error));
      return;
    }
    assert.deepEqual([this.status, blocked ?? false], ["failed", false]);
    Object.assign(this, { status: "recovering", recoveries: this.recoveries + 1, recoverFrom: from });
  }

  async takeUp(): Promise<void> {
    await this.store.takeUpRecoveries(1000, this.now);
    if (this.status !== "recovering") return;
    this.putBack();
    this.toRunning();
  }

  /** The store and the model say the same, and the books are right. */
  async compare(): Promise<void> {
    const steps = await this.store.steps(this.run.id);
    const swept = (real: TaskState, said: TaskState) =>
      this.status === "cancelled" && real === "cancelled" ? real : said;
    assert.deepEqual(
      steps.map(({ task }) => task.state),
      this.steps.map(({ state }, index) => swept(steps[index]?.task.state as TaskState, state)),
    );
    assert.equal((await this.store.run(this.run.id))?.status, this.status);
    for (const step of this.steps) {
      const entries = await this.store.stepItems(this.run.id, step.index, { limit: 100 });
      assert.deepEqual(
        entries.map(({ state }) => state),
        step.entries.map(({ state }, index) => swept(entries[index]?.state as TaskState, state)),
      );
    }
    assert.deepEqual((await this.store.audit()).findings, []);
  }

  /** Whatever has happened, it comes to its end. */
  async finish(): Promise<void> {
    await this.act({ do: "start" });
    if (this.status === "paused") await this.act({ do: "resume" });
    await this.act({ do: "takeUp" });
    for (let round = 0; round < 200 && !this.isOver; round += 1) {
      for (const child of this.children.keys()) await this.childEnds(child);
      await this.act({ do: "pass", ms: WAIT_MS });
      for (const one of this.units()) {
        if (one.hold === null || one.hold.grant.owner !== this.owner) await this.take(one);
        await this.settle(one, { do: "settle", pick: 0, verdict: "completed", entries: 0, stop: false });
      }
    }
    assert.ok(this.isOver, `the run is ${this.status} for ever`);
    while ((await this.store.sweepEnded(1000, this.now)) > 0);
    await this.compare();
    const words = (await this.store.events(this.run.id, { limit: 10_000 })).map(({ message }) => message);
    for (const { name, completions } of this.steps)
      assert.equal(
        words.filter((word) => word === `Step ${name} completed`).length,
        completions,
        `${name} settled once`,
      );
    const { totals } = await this.store.overview(this.run.id, 1);
    assert.equal(
      Object.values(totals).reduce((sum, count) => sum + count, 0),
      this.steps.length,
    );
  }

  /** Whatever has become of it, it can be deleted. */
  async remove(): Promise<void> {
    for (const { hold } of this.units()) if (hold !== null) await this.store.releaseLane(hold.grant);
    await this.store.deleteWorkflow(this.run.id, this.now);
    while ((await this.store.sweepEnded(1000, this.now)) > 0);
    while ((await this.store.removeExpired(7)) > 0) assert.deepEqual((await this.store.audit()).findings, []);
  }
}

function pickOf<T>(list: readonly T[], pick: number): T | undefined {
  return list.length === 0 ? undefined : list[pick % list.length];
}
