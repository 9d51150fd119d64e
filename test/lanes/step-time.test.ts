import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLog } from "../../src/base/log.ts";
import type { HandlerContext } from "../../src/lanes/handlers/handler.ts";
import type { StepDeps } from "../../src/lanes/handlers/step/step-deps.ts";
import { StepProgress } from "../../src/lanes/handlers/step/step-progress.ts";
import { withinBounds } from "../../src/lanes/handlers/step/step-time.ts";
import { stepHandler } from "../../src/lanes/handlers/step/step.ts";
import type { NewRun, RunRecord } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { StepKind } from "../../src/workflows/step-kind.ts";
import { waitStep } from "../../src/workflows/steps/wait.ts";
import { DONE, Kit, newTask, type Verdict } from "../contract/store/kit.ts";
import { newWorkflow, settleStep, takeStep } from "../contract/store/workflow-kit.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { reasonOf } from "../support/net.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const never = () => new Promise<never>(() => {});

function bounds(clock: FakeClock, seconds: number | null) {
  const stop = new AbortController();
  const leftMs = seconds === null ? null : seconds * 1000;
  return { stop, bounds: { clock, signal: stop.signal, leftMs, seconds } };
}

test("a step that is done in time gives what it has, and leaves no timer", async () => {
  const clock = new FakeClock();
  assert.equal(await withinBounds(bounds(clock, 10).bounds, async () => "done"), "done");
  assert.equal(clock.waiting, 0);
});

test("a step is told when its time is over, and fails for that, whatever it makes of it", async () => {
  for (const react of [() => "done all the same", () => Promise.reject(new Error("stopped"))]) {
    const clock = new FakeClock();
    const ended = reasonOf(
      withinBounds(bounds(clock, 10).bounds, async (signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return react();
      }),
    );
    await clock.advance(10_000);
    assert.equal(await ended, "timeout/step_timeout");
    assert.equal(clock.waiting, 0);
  }
});

test("a step that does not listen is left behind 5 seconds after it was told", async () => {
  const clock = new FakeClock();
  let end: string | null = null;
  void reasonOf(withinBounds(bounds(clock, 10).bounds, never)).then((reason) => (end = reason));
  await clock.advance(14_999);
  await settled();
  assert.equal(end, null);
  await clock.advance(1);
  await settled();
  assert.equal(end, "timeout/step_timeout");
});

test("a step that is not wanted any more is told, and left behind if it does not listen", async () => {
  const clock = new FakeClock();
  const { stop, bounds: within } = bounds(clock, null);
  const ended = reasonOf(withinBounds(within, never));
  stop.abort();
  await clock.advance(5000);
  assert.equal(await ended, "cancelled/run_cancelled");
});

test("setting the wall clock changes nothing about the time of a step at work", async () => {
  const clock = new FakeClock();
  let end: string | null = null;
  void reasonOf(
    withinBounds(
      bounds(clock, 10).bounds,
      (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    ),
  ).then((reason) => (end = reason));
  clock.wall -= 3_600_000;
  await clock.advance(9999);
  await settled();
  assert.equal(end, null);
  await clock.advance(1);
  await settled();
  assert.equal(end, "timeout/step_timeout");
});

test("what a step says of itself is written at once, then once a second, and not after its end", async () => {
  const clock = new FakeClock();
  const written: unknown[] = [];
  const progress = new StepProgress(clock, async (update) => void written.push(update));
  for (const done of [1, 2, 3]) progress.report(done, 10, `${done} of 10`);
  assert.deepEqual(written, [{ fraction: 0.1, message: "1 of 10" }]);
  await clock.advance(1000);
  assert.deepEqual(written.at(-1), { fraction: 0.3, message: "3 of 10" });
  progress.report(4, 10);
  await progress.stop();
  await clock.advance(5000);
  assert.equal(written.length, 2);
});

test("a step that was left behind says nothing more, whatever it tells", async () => {
  const written: unknown[] = [];
  const progress = new StepProgress(new FakeClock(), async (update) => void written.push(update));
  await progress.stop();
  progress.report(1, 2, "late");
  assert.deepEqual(written, []);
});

/** A step with a timeout of 3 s, its handler, a real store and a clock that stands still. */
class Sleeper {
  readonly clock = new FakeClock();
  readonly kit: Kit;
  readonly #handler;
  #run: RunRecord | null = null;

  constructor(kind: StepKind) {
    const { clock } = this;
    const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
    this.kit = new Kit(store, { clock, open: async () => store, close: () => store.close() });
    const page: NewRun = { kind: "page", maxAttempts: 3, snapshot: {}, url: "https://a.example/p" };
    const children = { prepare: async () => ({ run: page, tasks: [newTask("p")] }) };
    const deps = { store, clock, children, kinds: { find: () => kind } };
    this.#handler = stepHandler(deps as unknown as StepDeps);
  }

  /** Works on the step once it is ready, and says what came of it: `wait`, `completed` or why it failed. */
  async works(): Promise<string> {
    const { kit } = this;
    if (this.#run === null) {
      const step = { name: "a", task_type: "x", params: { seconds: 2 }, dependencies: [], timeout: 3 };
      const definition = { name: "w", steps: [{ ...step, max_retries: 0, when: null, for_each: null }] };
      this.#run = await newWorkflow(kit, { a: [] }, {}, { snapshot: { definition, params: {} } });
    }
    const { hold, task } = await takeStep(kit, this.#run, "a");
    const context = { hold, log: LOG, signal: new AbortController().signal } as unknown as HandlerContext;
    const handled = await this.#handler.run(task, context);
    const verdict = handled.kind === "asleep" ? { kind: "wait" as const, sleep: handled.sleep } : (handled as Verdict);
    await settleStep(kit, { hold, task }, verdict);
    return handled.kind === "failed" ? handled.failure.reason : verdict.kind;
  }

  async passes(ms: number): Promise<string[]> {
    const woken: string[] = [];
    for (let left = ms; left > 0; left -= 500) {
      await this.clock.advance(500);
      woken.push(...(await this.kit.store.passStepTime(500, this.clock.now())));
    }
    return woken;
  }

  async childEnds(): Promise<void> {
    await this.kit.work(await this.kit.take("A"), DONE);
  }

  moves(to: "paused" | "running"): Promise<unknown> {
    return this.kit.store.changeRun(this.#run!.id, to, `Run ${to}`, this.clock.now());
  }
}

const LOG = createLog({ level: "error", pretty: false, write: () => {} });
const HOUR = 3_600_000;
const CHILD: StepKind = {
  kind: "x",
  about: "",
  params: {},
  run: async ({ child }) =>
    child === null
      ? { kind: "wait", memory: null, child: { kind: "page", url: "https://a.example/p", options: {} } }
      : { kind: "done", output: {} },
};

describe("the time of a step that sleeps", () => {
  test("setting the clock neither ends it nor lets it sleep on", async () => {
    for (const jump of [HOUR, -HOUR]) {
      const sleeper = new Sleeper(CHILD);
      assert.equal(await sleeper.works(), "wait");
      sleeper.clock.jump(jump);
      assert.deepEqual(await sleeper.passes(2000), []);
      assert.equal((await sleeper.passes(1500)).length, 1);
      assert.equal(await sleeper.works(), "step_timeout");
    }
    const inTime = new Sleeper(CHILD);
    await inTime.works();
    inTime.clock.jump(HOUR);
    await inTime.childEnds();
    assert.equal(await inTime.works(), "completed");
  });

  test("it stands still while the workflow is paused", async () => {
    const sleeper = new Sleeper(CHILD);
    await sleeper.works();
    await sleeper.moves("paused");
    await sleeper.childEnds();
    await sleeper.passes(10_000);
    await sleeper.moves("running");
    assert.equal(await sleeper.works(), "completed");
  });

  test("it stands still while no process runs", async () => {
    const sleeper = new Sleeper(waitStep as StepKind);
    assert.equal(await sleeper.works(), "wait");
    await sleeper.clock.advance(HOUR);
    assert.equal(await sleeper.works(), "completed");
  });

  test("what came in the last moment is taken, but nothing more is waited for", async () => {
    const sleeper = new Sleeper(CHILD);
    await sleeper.works();
    assert.equal((await sleeper.passes(3000)).length, 1);
    await sleeper.childEnds();
    assert.equal(await sleeper.works(), "completed");
    const insatiable = new Sleeper({
      ...CHILD,
      run: async (context, params) => CHILD.run({ ...context, child: null }, params),
    });
    await insatiable.works();
    await insatiable.passes(3000);
    await insatiable.childEnds();
    assert.equal(await insatiable.works(), "step_timeout");
  });
});
