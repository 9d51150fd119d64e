import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import {
  attempt,
  DONE,
  FAILED,
  HANDED_BACK,
  LANE,
  movedTo,
  newTask,
  RATE_WAIT,
  retryAt,
  type Scenario,
  SKIPPED,
  TTL,
  type Verdict,
} from "./kit.ts";

const OTHER = "site:b.example";
const BREAKER_OPENED = {
  type: "circuit.opened",
  level: "warn",
  message: "Breaker opened",
  meta: { failures: 5 },
} as const;

function file(letter: string) {
  return { hash: letter.repeat(64), size: 3, contentType: "text/plain", url: `https://a.example/${letter}` };
}

export function settleScenarios(scenario: Scenario): void {
  scenario("a completed task keeps its files, records, detail and history", async (kit) => {
    const run = await kit.runWith(["k"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const artifacts = [file("a"), { ...file("b"), contentType: null }];
    const results = [{ title: "one" }, ["two"], null];
    kit.pass(40);
    const settled = await kit.settle(lane, tasks, { kind: "completed", artifacts, results, detail: { bytes: 3 } });
    assert.deepEqual(settled, { lost: [], opened: [], ended: [{ runId: run.id, status: "completed" }] });

    const task = await kit.store.taskByKey(run.id, "k");
    assert.ok(task !== null);
    assert.deepEqual([task.state, task.tries, task.endedAt, task.detail], ["completed", 1, kit.now, { bytes: 3 }]);
    assert.deepEqual(task.attempts, [attempt(1)]);
    assert.equal(task.failure, null);
    assert.deepEqual(await kit.store.resultsOf(task.id), results);
    const stored = await kit.store.artifactsOf(task.id);
    assert.deepEqual(
      stored.map(({ hash, size, contentType, url }) => ({ hash, size, contentType, url })),
      artifacts,
    );
    assert.ok(stored.every((one) => one.taskId === task.id && one.createdAt === kit.now));
  });

  scenario("settling the same task again changes nothing: one set of files and records", async (kit) => {
    const run = await kit.runWith(["k", "other"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const one = tasks.slice(0, 1);
    const verdict: Verdict = { kind: "completed", artifacts: [file("a")], results: ["first"], detail: null };
    await kit.settle(lane, one, verdict);
    await kit.settle(lane, one, { ...verdict, results: ["second", "third"] });
    await kit.settle(lane, one, FAILED);
    await kit.settle(lane, one, movedTo(OTHER));
    const task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual(await kit.store.resultsOf(task?.id ?? ""), ["first"]);
    assert.equal((await kit.store.artifactsOf(task?.id ?? "")).length, 1);
    assert.deepEqual(await kit.counts(run), { running: 1, completed: 1 });
    assert.deepEqual(
      (await kit.store.counts(run.id)).map(({ lane: name }) => name),
      [LANE],
    );
  });

  scenario("a task settled twice in one batch is counted once", async (kit) => {
    const run = await kit.runWith(["k"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const settled = await kit.settle(lane, [...tasks, ...tasks], DONE);
    assert.equal(settled.ended.length, 1);
    assert.deepEqual(await kit.counts(run), { completed: 1 });
  });

  scenario("a task fetched again after retries has one set of files and records", async (kit) => {
    const run = await kit.runWith(["k"]);
    const lane = await kit.take("A");
    await kit.work(lane, retryAt(kit.now));
    await kit.work(lane, FAILED);
    await kit.store.retryFailed(run.id, { limit: 1 }, kit.now);
    await kit.work(lane, { kind: "completed", artifacts: [file("c")], results: [1, 2], detail: null });
    const task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual(await kit.store.resultsOf(task?.id ?? ""), [1, 2]);
    assert.equal(task?.attempts.length, 3);
    assert.equal(task?.failure, null);
  });

  scenario("a failed task says why", async (kit) => {
    const run = await kit.runWith(["k"]);
    const lane = await kit.take("A");
    const why = failure("http_server_error", "the server answered 500", { httpStatus: 500 });
    await kit.work(lane, { kind: "failed", failure: why });
    const task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([task?.state, task?.tries, task?.endedAt], ["failed", 1, kit.now]);
    assert.deepEqual(task?.failure, why);
    assert.equal(await kit.status(run), "failed");
  });

  scenario("a skipped task says why and counts as good", async (kit) => {
    const run = await kit.runWith(["k"]);
    await kit.work(await kit.take("A"), SKIPPED);
    const task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([task?.state, task?.detail], ["skipped", { why: "unchanged" }]);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a retry spends an attempt and remembers the failure", async (kit) => {
    const run = await kit.runWith(["k"]);
    const lane = await kit.take("A");
    await kit.work(lane, retryAt(kit.now + 10.4));
    const task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([task?.state, task?.tries, task?.waits, task?.endedAt], ["retrying", 1, 0, null]);
    assert.equal(task?.readyAt, kit.now + 10);
    assert.equal(task?.failure?.reason, "connection_reset");
    assert.equal(task?.attempts.length, 1);
    assert.equal(await kit.status(run), "running");
  });

  scenario("waiting out a rate limit and handing back spend no attempt", async (kit) => {
    const run = await kit.runWith(["k"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const limited = attempt(1, {
      http_status: 429,
      failure_code: "rate_limited",
      failure_reason: "http_too_many_requests",
    });
    await kit.store.settle(
      [{ hold: lane, tasks: tasks.map((task) => ({ task, verdict: RATE_WAIT, attempt: limited })) }],
      kit.now,
    );
    let task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([task?.state, task?.tries, task?.waits, task?.attempts.length], ["queued", 0, 1, 1]);

    const again = await kit.claim(lane);
    assert.deepEqual([again.tasks[0]?.tries, again.tasks[0]?.waits], [0, 1]);
    await kit.store.settle(
      [{ hold: lane, tasks: again.tasks.map((one) => ({ task: one, verdict: HANDED_BACK, attempt: null })) }],
      kit.now,
    );
    task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([task?.state, task?.tries, task?.waits, task?.attempts.length], ["queued", 0, 1, 1]);
    assert.deepEqual(await kit.counts(run), { queued: 1 });
    assert.equal(await kit.status(run), "running");
  });

  scenario("a task that lives elsewhere moves to that site's lane, and the run goes on", async (kit) => {
    const run = await kit.runWith([newTask("k", { resolver: "crossref", priority: 4 })]);
    const lane = await kit.take("A");
    const settled = await kit.work(lane, movedTo(OTHER));
    assert.deepEqual(settled, { lost: [], opened: [OTHER], ended: [] });
    assert.equal(await kit.status(run), "running");
    const task = await kit.store.taskByKey(run.id, "k");
    assert.deepEqual([task?.lane, task?.state, task?.tries], [OTHER, "queued", 0]);
    assert.deepEqual([task?.url, task?.nextUrl], ["https://a.example/k", "https://b.example/"]);
    assert.equal((await kit.store.site("b.example"))?.lane, OTHER);
    assert.deepEqual(
      (await kit.store.lanesWithWork()).map((work) => work.lane),
      [OTHER],
    );
    const other = await kit.take("A", OTHER);
    const { tasks } = await kit.claim(other);
    const [moved] = tasks;
    assert.deepEqual(
      [moved?.nextUrl, moved?.redirects, moved?.resolver, moved?.priority],
      ["https://b.example/", ["https://a.example/"], "crossref", 4],
    );
    // Where it lives now and how it got there outlast a wait and a retry.
    await kit.settle(other, tasks, RATE_WAIT);
    const waited = await kit.claim(other);
    assert.deepEqual(waited.tasks[0]?.redirects, ["https://a.example/"]);
    await kit.settle(other, waited.tasks, retryAt(kit.now));
    const retried = await kit.claim(other);
    assert.deepEqual([retried.tasks[0]?.nextUrl, retried.tasks[0]?.redirects.length], ["https://b.example/", 1]);
    assert.deepEqual((await kit.settle(other, retried.tasks, DONE)).ended.length, 1);
  });

  scenario("a moved task's old claim cannot write into its new lane", async (kit) => {
    const run = await kit.runWith(["k", "stays"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const old = tasks.slice(0, 1);
    await kit.settle(lane, old, movedTo(OTHER));
    const other = await kit.take("A", OTHER);
    const { tasks: present } = await kit.claim(other);
    await kit.settle(lane, old, FAILED);
    assert.deepEqual(await kit.states(run), { k: "running", stays: "running" });
    await kit.expectClean();
    await kit.settle(other, present, DONE);
  });

  scenario("a lane that sleeps for an hour and is woken by a move has not been neglected", async (kit) => {
    const run = await kit.runWith(["k", newTask("b", { lane: OTHER })]);
    const other = await kit.take("A", OTHER);
    await kit.work(other, DONE);
    await kit.store.releaseLane(other);
    const lane = await kit.take("A");
    for (let minute = 0; minute < 60; minute += 1) {
      kit.pass(TTL - 1);
      await kit.store.heartbeat("A", TTL);
    }
    await kit.work(lane, movedTo(OTHER));
    await kit.expectClean();
    assert.equal(await kit.status(run), "running");
  });

  scenario("a run ends exactly with its last open task, over all lanes, in the same breath", async (kit) => {
    const run = await kit.runWith(["a", newTask("b", { lane: OTHER }), newTask("c", { resolver: "r" })]);
    const lane = await kit.take("A");
    const other = await kit.take("A", OTHER);
    const first = await kit.claim(lane);
    const second = await kit.claim(other);
    assert.deepEqual((await kit.settle(lane, first.tasks.slice(0, 1), DONE)).ended, []);
    assert.deepEqual((await kit.settle(other, second.tasks, DONE)).ended, []);
    assert.equal(await kit.status(run), "running");
    kit.pass(7);
    const settled = await kit.settle(lane, first.tasks.slice(1), DONE);
    assert.deepEqual(settled.ended, [{ runId: run.id, status: "completed" }]);
    const ended = await kit.store.run(run.id);
    assert.deepEqual(
      [ended?.status, ended?.finishedAt, ended?.message],
      ["completed", kit.now, "Run completed: 3 of 3 done"],
    );
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("how a run ends follows from its tasks", async (kit) => {
    const table: [Verdict[], string][] = [
      [[DONE, DONE], "completed"],
      [[DONE, SKIPPED], "completed"],
      [[DONE, FAILED], "partial"],
      [[SKIPPED, FAILED], "partial"],
      [[FAILED, FAILED], "failed"],
    ];
    for (const [verdicts, status] of table) {
      const run = await kit.runWith(["x", "y"]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      const settled = await kit.store.settle(
        [
          {
            hold: lane,
            tasks: tasks.map((task, index) => ({ task, verdict: verdicts[index] ?? DONE, attempt: attempt(1) })),
          },
        ],
        kit.now,
      );
      assert.deepEqual(settled.ended, [{ runId: run.id, status }]);
      assert.equal(await kit.status(run), status);
      await kit.store.releaseLane(lane);
    }
  });

  scenario("what is in flight when its run is cancelled is dropped: nothing is written after the end", async (kit) => {
    const run = await kit.runWith(["a", "b", "c", "d"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), { kind: "completed", artifacts: [], results: ["kept"], detail: null });
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    const events = await kit.events(run);
    const late: Verdict[] = [
      { kind: "completed", artifacts: [file("a")], results: ["late"], detail: null },
      retryAt(kit.now),
      movedTo(OTHER),
    ];
    const settled = await kit.store.settle(
      [
        {
          hold: lane,
          tasks: tasks
            .slice(1)
            .map((task, index) => ({ task, verdict: late[index] ?? DONE, attempt: attempt(task.tries + 1) })),
        },
      ],
      kit.now,
    );
    assert.deepEqual({ ...settled, dropped: settled.dropped?.length }, { lost: [], opened: [], ended: [], dropped: 3 });
    assert.deepEqual(await kit.states(run), { a: "completed", b: "cancelled", c: "cancelled", d: "cancelled" });
    assert.deepEqual(await kit.store.resultsOf(tasks[0]?.id ?? ""), ["kept"]);
    assert.deepEqual(await kit.store.resultsOf(tasks[1]?.id ?? ""), []);
    assert.deepEqual(await kit.store.artifactsOf(tasks[1]?.id ?? ""), []);
    assert.deepEqual(await kit.events(run), events);
  });

  scenario("lane events reach every run with open work there, before the run's end", async (kit) => {
    const ending = await kit.runWith(["a"]);
    const going = await kit.runWith(["b", "c"]);
    const elsewhere = await kit.runWith([newTask("d", { lane: OTHER })]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 2);
    await kit.store.settle(
      [
        {
          hold: lane,
          tasks: tasks.map((task, n) => ({
            task,
            verdict: DONE,
            attempt: attempt(1),
            ...(n === 0 ? { laneEvents: [BREAKER_OPENED] } : {}),
          })),
        },
      ],
      kit.now,
    );
    const words = async (run: typeof ending) => (await kit.events(run)).map((event) => event.message);
    assert.deepEqual(await words(ending), [
      "Run created",
      "Run started",
      "Breaker opened",
      "Run completed: 1 of 1 done",
    ]);
    assert.deepEqual(await words(going), ["Run created", "Run started", "Breaker opened"]);
    assert.deepEqual(await words(elsewhere), ["Run created"]);
    const told = (await kit.events(going)).at(-1);
    assert.deepEqual([told?.level, told?.meta], ["warn", { failures: 5 }]);
  });

  scenario("outcomes that are handed in again, as their answer was lost, are told once", async (kit) => {
    const run = await kit.runWith(["done", "again", "moved", "refused"]);
    const cancelled = await kit.runWith(["late"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const watching = await kit.runWith(["not in hand"]);
    await kit.store.changeRun(cancelled.id, "cancelled", "Run cancelled", kit.now);
    const verdicts: Record<string, Verdict> = {
      again: retryAt(kit.now + 60_000),
      moved: movedTo(OTHER),
      refused: RATE_WAIT,
    };
    const outcomes = tasks.map((task, n) => ({
      task,
      verdict: verdicts[task.key] ?? DONE,
      attempt: attempt(1),
      laneEvents: [{ type: "site.rate_limited" as const, level: "warn" as const, message: `Site held ${n}`, meta: {} }],
    }));
    const told = ["Site held 0", "Site held 1", "Site held 2", "Site held 3", "Site held 4"];
    for (const round of ["first", "again"]) {
      const { dropped = [] } = await kit.store.settle([{ hold: lane, tasks: outcomes }], kit.now);
      assert.equal(dropped.length, round === "first" ? 1 : 5, `${round}: ${JSON.stringify(dropped)}`);
      for (const one of [run, watching]) {
        const words = (await kit.events(one)).map((event) => event.message);
        assert.deepEqual(
          words.filter((word) => word.startsWith("Site held")),
          told,
          round,
        );
      }
    }
    assert.deepEqual(await kit.states(run), {
      done: "completed",
      again: "retrying",
      moved: "queued",
      refused: "queued",
    });
  });

  scenario("an outcome that is handed in again after its task was claimed again changes nothing of it", async (kit) => {
    const run = await kit.runWith(["refused", "failed"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const verdicts: Record<string, Verdict> = { refused: RATE_WAIT, failed: retryAt(kit.now) };
    const laneEvents = [{ type: "site.rate_limited" as const, level: "warn" as const, message: "Site held", meta: {} }];
    const outcomes = tasks.map((task) => ({ task, verdict: verdicts[task.key]!, attempt: attempt(1), laneEvents }));
    await kit.store.settle([{ hold: lane, tasks: outcomes }], kit.now);
    const { tasks: again } = await kit.claim(lane);
    assert.equal(again.length, 2);
    const { dropped } = await kit.store.settle([{ hold: lane, tasks: outcomes }], kit.now);
    assert.equal(dropped?.length, 2);
    assert.deepEqual(await kit.states(run), { refused: "running", failed: "running" });
    const told = (await kit.events(run)).filter(({ message }) => message === "Site held");
    assert.equal(told.length, 2, "once for each of them");
    await kit.settle(lane, again, DONE);
    assert.deepEqual(await kit.states(run), { refused: "completed", failed: "completed" });
  });

  scenario("what sites say is kept, with halves of characters and characters of number 0 in it", async (kit) => {
    const run = await kit.runWith(["a", "b"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const odd = "\0 \ud83d and \udc00";
    await kit.settle(lane, tasks.slice(0, 1), { kind: "failed", failure: failure("http_not_found", odd) });
    await kit.settle(lane, tasks.slice(1), { kind: "completed", artifacts: [], results: [{ odd }], detail: { odd } });
    const [why] = await kit.store.runErrors(run.id);
    assert.deepEqual([why?.reason, why?.count], ["http_not_found", 1]);
    const [record] = await kit.store.results(run.id, { limit: 10 });
    assert.match(String((record?.data as { odd?: string } | undefined)?.odd), /^(?:\0|\uFFFD) .+ and .$/s);
    const { requeued } = await kit.store.retryFailed(run.id, { reasons: ["http_not_found"], limit: 10 }, kit.now);
    assert.equal(requeued, 1);
  });

  scenario("an empty settle is fine", async (kit) => {
    assert.deepEqual(await kit.store.settle([], kit.now), { lost: [], opened: [], ended: [] });
    await kit.runWith(["a"]);
    const lane = await kit.take("A");
    assert.deepEqual(await kit.settle(lane, [], DONE), { lost: [], opened: [], ended: [] });
  });
}
