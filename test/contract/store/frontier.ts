import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { LONGEST_STEP_MS } from "../../../src/domain/run/running-time.ts";
import type { Discovered, Report } from "../../../src/domain/run/outcome.ts";
import { NO_TRAPS } from "../../../src/domain/crawl/traps.ts";
import type { ClaimedTask, LaneHold, NewRun, RunRecord } from "../../../src/store/ports/port.ts";
import {
  attempt,
  DONE,
  FAILED,
  HANDED_BACK,
  type Kit,
  keysOf,
  LANE,
  movedTo,
  newTask,
  retryAt,
  type Scenario,
  SKIPPED,
} from "./kit.ts";

const OTHER = "site:b.example";

/** A crawl that has begun, with these pages. */
async function crawl(kit: Kit, keys: readonly string[], more: Partial<NewRun> = {}): Promise<RunRecord> {
  const run = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit: 100, ...more } as const;
  const { created } = await kit.store.startRun(
    run,
    keys.map((key) => newTask(key)),
    kit.now,
  );
  await kit.store.admitCrawls(1000, kit.now);
  return created;
}

const url = (key: string) => `https://a.example/${key}`;

/** The page was got, at this address, and has one record. */
function gotAt(task: ClaimedTask, at: string, more: Report = {}) {
  const verdict = {
    kind: "completed",
    artifacts: [],
    results: [{ url: url(at), said: task.key }],
    detail: null,
  } as const;
  const landed = at === task.key ? {} : { landed: { key: at, url: url(at) } };
  return { task, verdict, attempt: attempt(1), report: { ...landed, ...more } };
}

function found(key: string): Discovered {
  return { key, url: url(key), lane: LANE, site: "a.example", depth: 1 };
}

async function claimed(kit: Kit, lane: LaneHold): Promise<(key: string) => ClaimedTask> {
  const { tasks } = await kit.claim(lane);
  return (key) => {
    const task = tasks.find((one) => one.key === key);
    assert.ok(task !== undefined, `${key} should be ready`);
    return task;
  };
}

async function records(kit: Kit, run: RunRecord): Promise<unknown[]> {
  return (await kit.store.results(run.id, { limit: 100 })).map(({ data }) => data);
}

const contentOf = (text: string) => ({ content: hash("sha256", text, "hex") });

export function frontierScenarios(scenario: Scenario): void {
  for (const [what, state] of [
    ["waits", "queued"],
    ["is done", "completed"],
    ["has failed", "failed"],
    ["is tried again later", "retrying"],
  ] as const) {
    scenario(
      `a page that redirects to one that ${what} is skipped, naming it, and what it leads to is kept`,
      async (kit) => {
        const run = await crawl(kit, ["a", "b"]);
        const lane = await kit.take("A");
        const task = await claimed(kit, lane);
        if (state === "queued") await kit.settle(lane, [task("b")], HANDED_BACK);
        if (state === "completed") await kit.store.settle([{ hold: lane, tasks: [gotAt(task("b"), "b")] }], kit.now);
        if (state === "failed") await kit.settle(lane, [task("b")], FAILED);
        if (state === "retrying") await kit.settle(lane, [task("b")], retryAt(kit.now + 1000));
        const { ended } = await kit.store.settle(
          [{ hold: lane, tasks: [gotAt(task("a"), "b", { discovered: [found("c")] })] }],
          kit.now,
        );
        assert.deepEqual(ended, []);
        assert.deepEqual(await kit.states(run), { a: "skipped", b: state, c: "queued" });
        const alias = await kit.store.taskByKey(run.id, "a");
        assert.match(JSON.stringify(alias?.detail), /"alias_of":"https:\/\/a\.example\/b"/);
        assert.deepEqual(await records(kit, run), state === "completed" ? [{ url: url("b"), said: "b" }] : []);
        assert.equal((await kit.store.run(run.id))?.pagesKnown, 3);
        assert.equal((await kit.store.recentPages(kit.now)).completed, state === "completed" ? 1 : 0, "of two");
      },
    );
  }

  scenario("a page that redirects to an unknown one stands for it: nobody fetches that again", async (kit) => {
    const run = await crawl(kit, ["a", "z"]);
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "b")] }], kit.now);
    const links = { discovered: [found("b"), found("c")] };
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("z"), "z", links)] }], kit.now);
    assert.deepEqual(await kit.states(run), { a: "completed", z: "completed", c: "queued" });
    assert.equal((await kit.store.run(run.id))?.pagesKnown, 3);
    // Redirected there as well, from a page that nobody knew.
    const next = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(next("c"), "b")] }], kit.now);
    assert.deepEqual(await kit.states(run), { a: "completed", z: "completed", c: "skipped" });
    assert.deepEqual(await records(kit, run), [
      { url: url("b"), said: "a" },
      { url: url("z"), said: "z" },
    ]);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("of two pages that redirect to the same one, the first has the result", async (kit) => {
    const run = await crawl(kit, ["a", "b"]);
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "x"), gotAt(task("b"), "x")] }], kit.now);
    assert.deepEqual(await kit.states(run), { a: "completed", b: "skipped" });
    assert.deepEqual(await records(kit, run), [{ url: url("x"), said: "a" }]);
  });

  scenario("pages that redirect to each other are not both skipped", async (kit) => {
    const run = await crawl(kit, ["a", "b"]);
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "b")] }], kit.now);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("b"), "a")] }], kit.now);
    assert.deepEqual(await kit.states(run), { a: "skipped", b: "completed" });
    assert.equal((await records(kit, run)).length, 1);
  });

  scenario("another crawl has pages of its own", async (kit) => {
    const [one, two] = [await crawl(kit, ["a"]), await crawl(kit, ["b"])];
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "x"), gotAt(task("b"), "x")] }], kit.now);
    assert.deepEqual([await kit.states(one), await kit.states(two)], [{ a: "completed" }, { b: "completed" }]);
  });

  scenario(
    "a page that moves to another site where it is known is skipped; else it stands for the new one",
    async (kit) => {
      const run = await crawl(kit, ["a", "b", "c"]);
      const lane = await kit.take("A");
      const task = await claimed(kit, lane);
      const landed = { landed: { key: "far", url: "https://b.example/" } };
      await kit.report(lane, [task("a")], movedTo(OTHER), landed);
      await kit.report(lane, [task("b")], movedTo(OTHER), landed);
      await kit.store.settle([{ hold: lane, tasks: [gotAt(task("c"), "c", { discovered: [found("far")] })] }], kit.now);
      assert.deepEqual(await kit.states(run), { a: "queued", b: "skipped", c: "completed" });
      const other = await kit.take("A", OTHER);
      const next = await claimed(kit, other);
      await kit.store.settle([{ hold: other, tasks: [gotAt(next("a"), "far")] }], kit.now);
      assert.deepEqual(await kit.states(run), { a: "completed", b: "skipped", c: "completed" });
      assert.equal(await kit.status(run), "completed");
    },
  );

  scenario("an alias of a page that was skipped may still become that page", async (kit) => {
    const run = await crawl(kit, ["a", "b"]);
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    await kit.settle(lane, [task("b")], SKIPPED);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "b")] }], kit.now);
    assert.deepEqual(await kit.states(run), { a: "completed", b: "skipped" });
  });

  scenario("a page that says what another has said names the first, and its records are whole", async (kit) => {
    const run = await crawl(kit, ["a", "b", "c", "d"]);
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    const same = contentOf("same");
    await kit.store.settle(
      [{ hold: lane, tasks: [gotAt(task("b"), "b", same), gotAt(task("a"), "a", same)] }],
      kit.now,
    );
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("c"), "c", contentOf("other"))] }], kit.now);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("d"), "d", same)] }], kit.now);
    assert.deepEqual(await records(kit, run), [
      { url: url("b"), said: "b" },
      { url: url("a"), said: "a", duplicate_of: url("b") },
      { url: url("c"), said: "c" },
      { url: url("d"), said: "d", duplicate_of: url("b") },
    ]);
    const again = await crawl(kit, ["e"]);
    const next = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(next("e"), "e", same)] }], kit.now);
    assert.deepEqual(await records(kit, again), [{ url: url("e"), said: "e" }]);
  });

  scenario("a page that was fetched again after its owner died does not name itself", async (kit) => {
    const run = await crawl(kit, ["a"]);
    const stale = await kit.take("A");
    const before = await claimed(kit, stale);
    const lane = await kit.takeOver("B");
    const task = await claimed(kit, lane);
    const got = gotAt(task("a"), "x", contentOf("same"));
    await kit.store.settle([{ hold: stale, tasks: [{ ...got, task: before("a") }] }], kit.now);
    assert.deepEqual(await records(kit, run), []);
    await kit.store.settle([{ hold: lane, tasks: [got] }], kit.now);
    await kit.store.settle([{ hold: lane, tasks: [got] }], kit.now);
    assert.deepEqual(await records(kit, run), [{ url: url("x"), said: "a" }]);
    assert.deepEqual(await kit.states(run), { a: "completed" });
  });

  scenario("what was counted of traps is kept with an outcome, and read by whoever goes on", async (kit) => {
    const run = await crawl(kit, ["a", "b"]);
    assert.equal(await kit.store.trapState(run.id), null);
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    const traps = { ...NO_TRAPS, ownKind: [["/calendar/{n}", 7]] as [string, number][] };
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "a", { traps })] }], kit.now);
    const other = await kit.open();
    assert.deepEqual(await other.trapState(run.id), traps);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("b"), "b", { traps: NO_TRAPS })] }], kit.now);
    assert.deepEqual(await other.trapState(run.id), NO_TRAPS);
  });

  scenario("time counts while a crawl is worked on, whatever the clock is set to", async (kit) => {
    const run = await crawl(kit, ["a"], { timeLimitMs: 10_000 });
    const HOUR = 3_600_000;
    const ran = async () => (await kit.store.run(run.id))?.ranMs;
    kit.pass(1000);
    await kit.store.passTime(1000, kit.now, 10);
    assert.equal(await ran(), 1000);
    kit.clock.wall += HOUR;
    kit.pass(500);
    await kit.store.passTime(500, kit.now, 10);
    kit.clock.wall -= 24 * HOUR;
    await kit.store.passTime(500, kit.now, 10);
    // By its own clock it began in the future: what passed is told by the next step.
    kit.pass(500);
    await kit.store.passTime(500, kit.now, 10);
    assert.equal(await ran(), 2000);
    assert.deepEqual(await kit.store.passTime(0, kit.now, 10), []);
    // Nobody worked for an hour.
    kit.pass(HOUR);
    await kit.store.passTime(0, kit.now, 10);
    assert.deepEqual([await ran(), await kit.store.passTime(0, kit.now, 10)], [2000, []]);
    const late = await crawl(kit, ["b"], { timeLimitMs: 10_000 });
    kit.pass(100);
    await kit.store.passTime(500, kit.now, 10);
    assert.equal((await kit.store.run(late.id))?.ranMs, 100, "it began after the last step");
    await kit.store.changeRun(late.id, "paused", "Run paused", kit.now);
    kit.pass(60_000);
    await kit.store.passTime(7900, kit.now, 10);
    assert.equal((await kit.store.run(late.id))?.ranMs, 100);
    // Nor does it count when somebody pauses it after an hour in which nobody worked.
    await kit.store.changeRun(late.id, "running", "Run resumed", kit.now);
    kit.pass(HOUR);
    await kit.store.changeRun(late.id, "paused", "Run paused", kit.now);
    const counted = (await kit.store.run(late.id))?.ranMs ?? 0;
    assert.ok(counted <= 100 + LONGEST_STEP_MS, `${counted} ms`);
    assert.deepEqual(await kit.store.passTime(60_000, kit.now, 10), [run.id]);
  });

  scenario("how far a crawl is never falls, although it finds more pages", async (kit) => {
    const run = await crawl(kit, ["a"], { timeLimitMs: 1_000_000, pagesLimit: 1000 });
    const seen = async () => (await kit.store.run(run.id))?.progress;
    const lane = await kit.take("A");
    const finish = async (limit: number, keys: string[]) => {
      const { tasks } = (await kit.store.claim(lane, { limit }, kit.now))!;
      const [first, ...rest] = tasks;
      await kit.report(lane, [first!], DONE, { discovered: keys.map(found) });
      if (rest.length > 0) await kit.report(lane, rest, DONE, {});
    };
    assert.equal(await seen(), 0);
    await finish(
      1,
      Array.from({ length: 39 }, (_, index) => `b${index}`),
    );
    assert.equal(await seen(), 2, "one page of 40");
    await finish(29, []);
    assert.equal(await seen(), 75, "30 of 40");
    await finish(
      1,
      Array.from({ length: 100 }, (_, index) => `c${index}`),
    );
    assert.equal(await seen(), 75);
    await finish(100, []);
    assert.equal(await seen(), 93, "131 of 140");
  });

  scenario("a crawl that has done 12 of the 15 pages it knows is at 80 %, at once", async (kit) => {
    const run = await crawl(kit, ["a"], { pagesLimit: 1000 });
    const seen = async () => (await kit.store.run(run.id))?.progress;
    const lane = await kit.take("A");
    const [start] = (await kit.claim(lane)).tasks;
    const others = Array.from({ length: 14 }, (_, index) => found(`b${index}`));
    await kit.report(lane, [start!], DONE, { discovered: others });
    assert.equal(await seen(), 5, "there may be more than its first page leads to");
    const { tasks } = await kit.claim(lane);
    await kit.report(lane, [tasks[0]!], DONE, {});
    assert.equal(await seen(), 13, "two of 15");
    await kit.report(lane, tasks.slice(1, 11), DONE, {});
    assert.equal(await seen(), 80);
  });

  scenario("pages that would not be done in time are not handed out, and those of other runs are", async (kit) => {
    await crawl(kit, ["a", "b"], { timeLimitMs: 10_000 });
    await kit.runWith(["q"]);
    const lane = await kit.take("A");
    kit.pass(6000);
    await kit.report(lane, (await kit.claim(lane)).tasks, HANDED_BACK, { pageMs: 3000 });
    const inTime = await kit.claim(lane);
    assert.deepEqual(keysOf(inTime).toSorted(), ["a", "b", "q"]);
    await kit.settle(lane, inTime.tasks, HANDED_BACK);
    kit.pass(1000);
    assert.deepEqual(keysOf(await kit.claim(lane)), ["q"]);
  });

  scenario("a page that settles after the time is over writes nothing, and what was done stays", async (kit) => {
    const run = await crawl(kit, ["a", "b", "c"], { timeLimitMs: 1000 });
    const lane = await kit.take("A");
    const task = await claimed(kit, lane);
    await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "a")] }], kit.now);
    await kit.settle(lane, [task("c")], HANDED_BACK);
    kit.pass(1000);
    assert.deepEqual(await kit.store.passTime(60_000, kit.now, 10), [run.id]);
    await kit.store.endByTime(run.id, kit.now);
    await kit.store.sweepEnded(10, kit.now, run.id);
    const late = gotAt(task("b"), "x", { discovered: [found("d")], traps: NO_TRAPS, ...contentOf("late") });
    await kit.store.settle([{ hold: lane, tasks: [late] }], kit.now);
    assert.deepEqual(await kit.states(run), { a: "completed", b: "cancelled", c: "cancelled" });
    assert.equal((await records(kit, run)).length, 1);
    assert.equal(await kit.store.trapState(run.id), null);
    assert.equal((await kit.store.run(run.id))?.facts.end_reason, "limit_time");
    assert.deepEqual([await kit.status(run), (await kit.ends(run)).length], ["partial", 1]);
  });

  for (const [left, reason, words] of [
    [["b"], "breaker_open", /some pages were not fetched because their site keeps failing$/],
    [
      ["b", "elsewhere"],
      "limit_time",
      /the time limit was reached, some pages were not fetched because their site keeps failing$/,
    ],
  ] as const)
    scenario(
      `a crawl whose time is over while ${left.join(" and ")} wait, one of them for a failing site`,
      async (kit) => {
        const run = await crawl(kit, ["a"], { timeLimitMs: 1000 });
        const lane = await kit.take("A");
        const task = await claimed(kit, lane);
        const discovered = left.map((key) =>
          key === "elsewhere" ? { ...found(key), lane: "site:other.example", site: "other.example" } : found(key),
        );
        await kit.store.settle([{ hold: lane, tasks: [gotAt(task("a"), "a", { discovered })] }], kit.now);
        const breaker = { failures: 9, pages: [], openUntil: kit.now + 300_000, failedProbes: 4 };
        const politeness = { holdUntil: 0, holdStep: 0, breaker };
        await kit.store.settle([{ hold: lane, tasks: [], site: { site: "a.example", politeness } }], kit.now);
        kit.pass(1000);
        await kit.store.endByTime(run.id, kit.now);
        await kit.store.sweepEnded(10, kit.now, run.id);
        assert.equal(await kit.status(run), "partial");
        assert.equal((await kit.store.run(run.id))?.facts.end_reason, reason);
        assert.match((await kit.ends(run))[0] ?? "", words);
      },
    );
}
