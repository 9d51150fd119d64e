import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadConfig } from "../../src/config/load.ts";
import { Orchestrator } from "../../src/app/library/library.ts";
import { isAlive, processes } from "../fetch/browser/processes.ts";
import { gate } from "../support/gate.ts";
import { Orb, until } from "./orb.ts";

/** What a user might write, good and bad. */
const MODULE = `
const hoard = [];
const step = (kind, run, more = {}) => ({ kind, params: { type: "object" }, run, ...more });

export const steps = [
  step("numbers", () => ({ output: { to: 1000 }, items: Array.from({ length: 1000 }, (_, n) => ({ n })) })),
  step("sum", async (context) => {
    let sum = 0;
    for await (const { n } of context.items()) sum += n;
    await context.save("the sum is " + sum, { name: "sum.txt" });
    return { sum };
  }),
  step("throws", () => { throw new Error("this one is broken"); }),
  step("loops", () => { for (;;); }, { timeout: 0.5 }),
  step("never-ends", () => new Promise(() => {})),
  step("redos", () => /^(a+)+$/.test("a".repeat(50) + "!"), { timeout: 0.5 }),
  step("exits", () => { process.exit(0); }),
  step("hoards", () => { for (;;) hoard.push(new Array(10_000).fill(hoard.length).map(String)); }),
  step("floods", (context) => { for (;;) context.log.info("x".repeat(5000)); }, { timeout: 2 }),
  step("returns-nonsense", () => 7),
  step("gives-without-end", () => ({ items: (function* () { for (;;) yield { t: "t".repeat(1000) }; })() }), { timeout: 1 }),
  step("busy", (context) => { context.log.info("busy as process " + process.pid); for (;;); }),
];
`;

const BAD: Record<string, { reason: string; retries?: number; timeout?: number }> = {
  throws: { reason: "handler_threw", retries: 1 },
  loops: { reason: "handler_timeout" },
  "never-ends": { reason: "step_timeout", timeout: 0.5 },
  redos: { reason: "handler_timeout" },
  exits: { reason: "handler_exited", retries: 1 },
  hoards: { reason: "handler_out_of_memory" },
  floods: { reason: "handler_timeout" },
  // Not tried again, because that could not help.
  "returns-nonsense": { reason: "handler_bad_result" },
  "gives-without-end": { reason: "handler_timeout" },
};

/** An installation with a worker as a process of its own, and a program that gives it workflows. */
class Site implements AsyncDisposable {
  readonly orb: Orb;
  readonly program: Orchestrator;

  private constructor(orb: Orb, program: Orchestrator) {
    this.orb = orb;
    this.program = program;
  }

  static async open(env: Record<string, string> = {}): Promise<Site> {
    const orb = new Orb(env);
    orb.env["APP_HANDLERS"] = orb.file("steps.mjs", MODULE);
    const { config } = loadConfig({ env: orb.env, cwd: orb.dir });
    return new Site(orb, await Orchestrator.start(config, { work: false }));
  }

  async work() {
    const worker = this.orb.start(["worker"]);
    await worker.said("working on runs");
    return worker;
  }

  async create(steps: readonly object[]): Promise<string> {
    return (await this.program.workflows.create({ definition: { name: "chaos", steps } })).id;
  }

  async steps(id: string) {
    return new Map((await this.program.workflows.tasks(id)).map((task) => [task.task_name, task]));
  }

  /** Processes that execute the module, the worker itself not being one of them. */
  executing(): number[] {
    return processes()
      .filter(({ command, state }) => state !== "Z" && command.includes(`${this.orb.dir}/steps.mjs`))
      .map(({ pid }) => pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.stop();
    await this.orb[Symbol.asyncDispose]();
  }
}

const SUM = [
  { name: "numbers", task_type: "numbers" },
  { name: "sum", task_type: "sum", dependencies: ["numbers"] },
];
const ON_LINUX = gate("processes of steps", process.platform === "linux", "it looks for them in /proc");

describe("steps of a user's own", () => {
  test("that misbehave fail alone, each with its reason, while the branch beside them ends and the engine keeps its lease", async () => {
    await using site = await Site.open({ APP_LEASE_TTL_SECONDS: "20", APP_MAX_WORKERS: "6" });
    const engine = await site.work();
    const standby = site.orb.start(["worker"]);
    await standby.said("standing by");
    const bad = Object.entries(BAD).map(([kind, { retries = 0, timeout }]) => ({
      name: kind,
      task_type: kind,
      max_retries: kind === "returns-nonsense" ? 3 : retries,
      ...(timeout === undefined ? {} : { timeout }),
    }));
    const after = { name: "after", task_type: "numbers", dependencies: ["throws"] };
    const id = await site.create([...bad, ...SUM, after]);
    assert.equal((await site.program.workflows.wait(id)).status, "failed");
    const steps = await site.steps(id);
    const seen = Object.fromEntries(
      Object.keys(BAD).map((name) => [name, [steps.get(name)?.failure_reason, steps.get(name)?.attempts.length]]),
    );
    const expected = Object.fromEntries(
      Object.entries(BAD).map(([name, { reason, retries = 0 }]) => [name, [reason, 1 + retries]]),
    );
    assert.deepEqual(seen, expected);
    assert.deepEqual([steps.get("sum")?.status, steps.get("sum")?.result], ["completed", { sum: 499_500 }]);
    assert.equal(steps.get("sum")?.attempts.length, 1, "it paid for nobody else");
    assert.equal(steps.get("after")?.status, "skipped");
    assert.ok(!engine.stderr.includes("lost the engine"));
    assert.ok(!standby.stderr.includes("working on runs"), "the engine renewed its lease all the time");
    const flood = engine.stderr.split("\n").filter((line) => line.includes('"kind":"floods"')).length;
    assert.ok(flood > 0 && flood <= 200, `${flood} lines of a flood`);
    await site.orb.audit();
  });

  test("leave nothing behind when the engine is killed, and are begun again by the next one", ON_LINUX, async () => {
    await using site = await Site.open();
    const first = await site.work();
    const id = await site.create([{ name: "busy", task_type: "busy" }, ...SUM]);
    await first.said("busy as process");
    assert.ok(site.executing().length > 0);
    await first.killed();
    await until(() => site.executing().length === 0, "the step's process is gone");
    const second = await site.work();
    await second.said("busy as process");
    await until(async () => (await site.steps(id)).get("sum")?.status === "completed", "the branch beside it is done");

    await site.program.workflows.cancel(id);
    const busy = Number(/busy as process (\d+)/.exec(second.stderr)?.[1]);
    await until(() => !isAlive(busy), "the process of the cancelled step is ended");
    // It is written a moment later.
    await until(async () => (await site.steps(id)).get("busy")?.status === "cancelled", "the step is cancelled");
    const steps = await site.steps(id);
    assert.deepEqual(steps.get("sum")?.result, { sum: 499_500 });
    assert.equal(steps.get("sum")?.artifacts.filter(({ role }) => role === "file").length, 1);
    second.kill("SIGTERM");
    assert.equal((await second.end()).code, 0);
    assert.deepEqual(site.executing(), []);
    await site.orb.audit();
  });
});
