import assert from "node:assert/strict";
import type { Report, RunEvent } from "../../../src/domain/run/outcome.ts";
import type { RunFacts } from "../../../src/domain/run/run-facts.ts";
import type { SettledTask } from "../../../src/store/ports/port.ts";
import {
  attempt,
  DONE,
  evidence,
  FAILED,
  HANDED_BACK,
  type Kit,
  movedTo,
  newTask,
  RATE_WAIT,
  retryAt,
  type Scenario,
  SKIPPED,
  type Verdict,
} from "./kit.ts";

const OTHER = "site:b.example";

function said(message: string, level: RunEvent["level"] = "info"): RunEvent {
  return { type: "strategy.resolved", level, message, meta: { about: message } };
}

function telling(facts: RunFacts, ...messages: string[]): Report {
  return { run: { events: messages.map((message) => said(message)), facts } };
}

async function hashes(kit: Kit, task: string): Promise<string[]> {
  return (await kit.store.artifactsOf(task)).map(({ hash }) => hash.slice(0, 1));
}

export function reportScenarios(scenario: Scenario): void {
  scenario("what an attempt reports stands in the log in its order, before the run's end", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const events = [said("Strategy resolved"), said("Page was slow", "warn"), said("Last words", "error")];
    events[1]!.type = "task.retry_scheduled";
    kit.pass(5);
    await kit.report(lane, tasks, DONE, { run: { events, facts: {} } });
    const log = await kit.events(run);
    assert.deepEqual(
      log.map(({ message }) => message),
      ["Run created", "Run started", "Strategy resolved", "Page was slow", "Last words", "Run completed"],
    );
    assert.deepEqual(
      log.slice(2, 5).map(({ id: _id, seq: _seq, ...event }) => event),
      events.map((event) => ({ ...event, createdAt: kit.now })),
    );
    assert.deepEqual(
      log.map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6],
    );
  });

  scenario("facts are merged key by key, over attempts", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const first: RunFacts = { attempt: 1, resolved_strategy: "http", failure_code: "timeout", error_message: "slow" };
    await kit.report(lane, (await kit.claim(lane)).tasks, retryAt(kit.now), telling(first));
    assert.deepEqual((await kit.store.run(run.id))?.facts, first);
    const second: RunFacts = { attempt: 2, resolved_strategy: "browser" };
    await kit.report(lane, (await kit.claim(lane)).tasks, RATE_WAIT, telling(second));
    assert.deepEqual((await kit.store.run(run.id))?.facts, { ...first, ...second });
    const third: RunFacts = { failure_code: null, error_message: null };
    await kit.report(lane, (await kit.claim(lane)).tasks, DONE, telling(third));
    assert.deepEqual((await kit.store.run(run.id))?.facts, { ...first, ...second, ...third });
    assert.deepEqual((await kit.store.runs({ limit: 1 }))[0]?.facts, { ...first, ...second, ...third });
  });

  const goingOn: [string, (kit: Kit) => Verdict][] = [
    ["a retry", (kit) => retryAt(kit.now)],
    ["a wait for the site's limit", () => RATE_WAIT],
    ["being handed back", () => HANDED_BACK],
  ];
  for (const [what, verdict] of goingOn) {
    scenario(`what an attempt remembers reaches the next one after ${what}`, async (kit) => {
      const run = await kit.page();
      const lane = await kit.take("A");
      const memory = { way: "browser", seen: [1, null] };
      await kit.report(lane, (await kit.claim(lane)).tasks, verdict(kit), { memory, ...telling({}, "Told") });
      const second = await kit.claim(lane);
      assert.deepEqual(second.tasks[0]?.memory, memory);
      assert.ok((await kit.words(run)).includes("Told"));
      // An attempt that says nothing of it leaves it as it is.
      await kit.settle(lane, second.tasks, verdict(kit));
      const third = await kit.claim(lane);
      assert.deepEqual(third.tasks[0]?.memory, memory);
      await kit.report(lane, third.tasks, verdict(kit), { memory: "newer" });
      const fourth = await kit.claim(lane);
      assert.equal(fourth.tasks[0]?.memory, "newer");
      await kit.settle(lane, fourth.tasks, DONE);
    });
  }

  scenario("what an attempt remembers survives an owner that died in the next one", async (kit) => {
    await kit.page();
    const lane = await kit.take("A");
    await kit.report(lane, (await kit.claim(lane)).tasks, retryAt(kit.now), { memory: { way: "browser" } });
    await kit.claim(lane);
    const next = await kit.takeOver("B");
    assert.equal(next.recovered, 1);
    const { tasks } = await kit.claim(next);
    assert.deepEqual([tasks[0]?.memory, tasks[0]?.tries], [{ way: "browser" }, 1]);
    await kit.settle(next, tasks, DONE);
  });

  scenario("what an attempt remembers moves with the task to another site, and its report is written", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const report = { memory: { way: "browser" }, ...telling({ attempt: 1 }, "It lives elsewhere") };
    await kit.report(lane, (await kit.claim(lane)).tasks, movedTo(OTHER), report);
    const other = await kit.take("A", OTHER);
    const { tasks } = await kit.claim(other);
    assert.deepEqual([tasks[0]?.memory, tasks[0]?.redirects.length], [{ way: "browser" }, 1]);
    assert.ok((await kit.words(run)).includes("It lives elsewhere"));
    assert.equal((await kit.store.run(run.id))?.facts.attempt, 1);
    await kit.settle(other, tasks, DONE);
  });

  scenario("what a failed task remembers is there when it is tried again", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    await kit.report(lane, (await kit.claim(lane)).tasks, retryAt(kit.now), { memory: { way: "browser" } });
    await kit.settle(lane, (await kit.claim(lane)).tasks, FAILED);
    assert.equal(await kit.status(run), "failed");
    assert.equal((await kit.store.retryFailed(run.id, { limit: 10 }, kit.now)).requeued, 1);
    const { tasks } = await kit.claim(lane);
    assert.deepEqual([tasks[0]?.memory, tasks[0]?.tries, tasks[0]?.attempts.length], [{ way: "browser" }, 0, 2]);
    await kit.settle(lane, tasks, DONE);
    assert.equal(await kit.status(run), "completed");
    assert.equal((await kit.ends(run)).length, 2);
  });

  scenario("memory does not show as the task's failure or as a record of it", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    await kit.report(lane, (await kit.claim(lane)).tasks, RATE_WAIT, { memory: { way: "browser" } });
    const task = await kit.store.taskByKey(run.id, "page");
    assert.deepEqual([task?.failure, task?.state], [null, "queued"]);
    assert.deepEqual(await kit.store.resultsOf(task?.id ?? ""), []);
    await kit.work(lane, DONE);
  });

  scenario("evidence belongs to tasks that failed, newer in place of older, and the audit is content", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const first = await kit.claim(lane);
    const id = first.tasks[0]?.id ?? "";
    await kit.report(lane, first.tasks, retryAt(kit.now), { evidence: [evidence("a"), evidence("b")] });
    assert.deepEqual(await hashes(kit, id), ["a", "b"]);
    await kit.expectClean();
    await kit.report(lane, (await kit.claim(lane)).tasks, RATE_WAIT, { evidence: [evidence("c")] });
    assert.deepEqual(await hashes(kit, id), ["c"]);
    // An attempt that saw nothing leaves what the one before has seen.
    await kit.settle(lane, (await kit.claim(lane)).tasks, retryAt(kit.now));
    assert.deepEqual(await hashes(kit, id), ["c"]);
    await kit.report(lane, (await kit.claim(lane)).tasks, FAILED, { evidence: [evidence("d"), evidence("e")] });
    assert.deepEqual(await hashes(kit, id), ["d", "e"]);
    assert.ok((await kit.store.artifactsOf(id)).every(({ role }) => role === "screenshot"));
    assert.equal(await kit.status(run), "failed");
    await kit.expectClean();
    await kit.store.retryFailed(run.id, { limit: 1 }, kit.now);
    await kit.expectClean();
    const had = { ...evidence("f"), role: "file" as const };
    const { tasks } = await kit.claim(lane);
    const done: Verdict = { kind: "completed", artifacts: [had], results: [], detail: null };
    await kit.report(lane, tasks, done, { evidence: [evidence("g")] });
    assert.deepEqual(await hashes(kit, id), ["f"]);
  });

  scenario("evidence of skipped tasks stays, and that of a task which was not tried is not taken", async (kit) => {
    await kit.runWith(["skipped", "untried"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const [skipped, untried] = tasks;
    assert.ok(skipped !== undefined && untried !== undefined);
    await kit.report(lane, [skipped], SKIPPED, { evidence: [evidence("a")] });
    assert.deepEqual(await hashes(kit, skipped.id), ["a"]);
    const report = { evidence: [evidence("b")] };
    await kit.store.settle(
      [{ hold: lane, tasks: [{ task: untried, verdict: HANDED_BACK, attempt: null, report }] }],
      kit.now,
    );
    assert.deepEqual(await hashes(kit, untried.id), []);
    const again = await kit.claim(lane);
    await kit.settle(lane, again.tasks, { kind: "completed", artifacts: [evidence("c")], results: [], detail: null });
    assert.deepEqual(await hashes(kit, untried.id), ["c"]);
  });

  /** Everything that a report can change. */
  async function traces(kit: Kit, run: { id: string }, task: string) {
    return {
      run: await kit.store.run(run.id),
      events: await kit.store.events(run.id, { limit: 1000 }),
      files: await kit.store.artifactsOf(task),
      records: await kit.store.resultsOf(task),
      // The end of a task is counted, whatever it reports.
      site: { ...(await kit.store.site("a.example")), counts: null },
      task: await kit.store.task(task),
    };
  }

  const EVERYTHING: Report = {
    ...telling({ attempt: 9, error_message: "late" }, "Late words"),
    memory: "late",
    evidence: [evidence("a")],
    learned: { site: "a.example", url: "https://a.example/late", needed: "browser", because: "late" },
  };

  const ALL: (kit: Kit) => Verdict[] = (kit) => [
    { kind: "completed", artifacts: [], results: ["late"], detail: null },
    SKIPPED,
    FAILED,
    retryAt(kit.now),
    RATE_WAIT,
    { kind: "human", failure: { code: "blocked", reason: "captcha_page", message: "late" } },
    HANDED_BACK,
    movedTo(OTHER),
  ];

  scenario("a report of an owner that lost its lane writes nothing, whatever it says", async (kit) => {
    const run = await kit.page();
    const stale = await kit.take("A");
    const { tasks } = await kit.claim(stale);
    const present = await kit.takeOver("B");
    const now = await kit.claim(present);
    const before = await traces(kit, run, tasks[0]?.id ?? "");
    for (const verdict of ALL(kit)) {
      const settled = await kit.report(stale, tasks, verdict, EVERYTHING);
      assert.deepEqual(settled, { lost: [stale.laneId], opened: [], ended: [] });
    }
    assert.deepEqual(await traces(kit, run, tasks[0]?.id ?? ""), before);
    await kit.expectClean();
    await kit.settle(present, now.tasks, DONE);
  });

  for (const [index, kind] of ALL({ now: 0 } as Kit)
    .map((verdict) => verdict.kind)
    .entries()) {
    scenario(`a report of an ended run writes nothing: ${kind}`, async (kit) => {
      const run = await kit.page();
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
      const before = await traces(kit, run, tasks[0]?.id ?? "");
      kit.pass(5);
      await kit.report(lane, tasks, ALL(kit)[index] as Verdict, EVERYTHING);
      const after = await traces(kit, run, tasks[0]?.id ?? "");
      assert.deepEqual({ ...after, task: null }, { ...before, task: null });
      assert.deepEqual([after.task?.state, after.task?.endedAt], ["cancelled", kit.now]);
    });
  }

  scenario("the report of a task that was settled already writes nothing", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const one = tasks.slice(0, 1);
    await kit.report(lane, one, FAILED, telling({}, "Told"));
    const before = await traces(kit, run, one[0]?.id ?? "");
    for (const verdict of ALL(kit)) await kit.report(lane, one, verdict, EVERYTHING);
    assert.deepEqual(await traces(kit, run, one[0]?.id ?? ""), before);
    assert.deepEqual(await kit.counts(run), { running: 1, failed: 1 });
  });

  scenario("reports of several runs in one batch go each to their own", async (kit) => {
    const [one, two] = [await kit.page("one"), await kit.page("two")];
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const settled: SettledTask[] = tasks.map((task) => ({
      task,
      verdict: DONE,
      attempt: attempt(1),
      report: telling({ resolved_strategy: task.key }, `Told by ${task.key}`),
    }));
    await kit.store.settle([{ hold: lane, tasks: settled }], kit.now);
    assert.deepEqual(await kit.words(one), ["Run created", "Run started", "Told by one", "Run completed"]);
    assert.deepEqual(await kit.words(two), ["Run created", "Run started", "Told by two", "Run completed"]);
    assert.equal((await kit.store.run(two.id))?.facts.resolved_strategy, "two");
  });

  scenario("words of a lane do not reach a run that has ended but was not swept yet", async (kit) => {
    const ended = await kit.runWith(["a", "b"]);
    await kit.store.changeRun(ended.id, "cancelled", "Run cancelled", kit.now);
    const live = await kit.runWith([newTask("c"), newTask("d")]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 1);
    const laneEvents = [
      { type: "circuit.opened" as const, level: "warn" as const, message: "Breaker opened", meta: {} },
    ];
    await kit.store.settle(
      [{ hold: lane, tasks: tasks.map((task) => ({ task, verdict: DONE, attempt: attempt(1), laneEvents })) }],
      kit.now,
    );
    assert.deepEqual(await kit.words(ended), ["Run created", "Run cancelled"]);
    assert.deepEqual(await kit.words(live), ["Run created", "Run started", "Breaker opened"]);
  });
}
