import assert from "node:assert/strict";
import { RUN_STATES, RUN_TRANSITIONS, type RunState, TERMINAL_RUN_STATES } from "../../../src/domain/run/states.ts";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import { DONE, FAILED, type Kit, refused, type Scenario } from "./kit.ts";

/** Legal steps from `queued` that bring a run to each state. */
const PATHS: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: [],
  running: ["running"],
  paused: ["running", "paused"],
  waiting_for_human: ["running", "waiting_for_human"],
  recovering: ["failed", "recovering"],
  completed: ["running", "completed"],
  partial: ["running", "partial"],
  failed: ["failed"],
  cancelled: ["cancelled"],
};

function change(kit: Kit, run: RunRecord, to: RunState): Promise<RunRecord> {
  return kit.store.changeRun(run.id, to, `Run ${to}`, kit.now);
}

/** A run in that state. It has one task where it must not end by itself, none where open work would be a fault. */
async function runIn(kit: Kit, state: RunState): Promise<RunRecord> {
  const path = PATHS[state];
  const run = path.includes("running") ? await kit.runWith(["a"]) : await kit.run();
  for (const step of path) await change(kit, run, step);
  return run;
}

export function runScenarios(scenario: Scenario): void {
  scenario("a new run is queued, says so in its log, and carries its snapshot", async (kit) => {
    const run = await kit.run({
      kind: "crawl",
      snapshot: { url: "https://a.example/", list: [1, null] },
      maxAttempts: null,
    });
    assert.deepEqual(
      { ...run, id: "" },
      {
        id: "",
        kind: "crawl",
        alias: null,
        degraded: null,
        status: "queued",
        generation: 1,
        jobId: null,
        jobDeletedAt: null,
        kept: false,
        startedBy: null,
        temporary: false,
        jobKeepRuns: null,
        jobKeepDays: null,
        parent: null,
        name: null,
        url: null,
        site: null,
        facts: {},
        maxAttempts: null,
        snapshot: { url: "https://a.example/", list: [1, null] },
        message: null,
        pagesKnown: 0,
        timeLimitMs: null,
        ranMs: 0,
        progress: 0,
        hold: null,
        runningSince: null,
        createdAt: kit.now,
        startedAt: null,
        finishedAt: null,
      },
    );
    assert.deepEqual(await kit.store.run(run.id), run);
    const [event, ...rest] = await kit.events(run);
    assert.deepEqual([event?.seq, event?.message, event?.createdAt, rest.length], [1, "Run created", kit.now, 0]);
  });

  scenario("an alias names one run, from every connection", async (kit) => {
    const other = await kit.open();
    const wanted = { kind: "queue" as const, alias: "queue", maxAttempts: 3, snapshot: null };
    const [one, two] = await Promise.all([kit.store.openRun(wanted, kit.now), other.openRun(wanted, kit.now)]);
    assert.deepEqual(one, two);
    assert.deepEqual(await kit.store.runByAlias("queue"), one);
    assert.equal(await kit.store.runByAlias("other"), null);
    assert.equal((await kit.events(one)).length, 1);
  });

  scenario("an id that is nobody's reads as null and cannot be changed", async (kit) => {
    const nobody = "3b241101-e2bb-4255-8caf-4136c566a962";
    assert.equal(await kit.store.run(nobody), null);
    await refused("not_found", kit.store.changeRun(nobody, "running", "Run started", kit.now));
    await refused("not_found", kit.store.events(nobody, { limit: 1 }));
    await refused("not_found", kit.store.counts(nobody));
  });

  for (const from of RUN_STATES) {
    const illegal = RUN_STATES.filter((to) => !RUN_TRANSITIONS[from].includes(to));
    scenario(`a run that is ${from} cannot become ${illegal.join(", ")}`, async (kit) => {
      const run = await runIn(kit, from);
      const before = await kit.store.run(run.id);
      assert.equal(before?.status, from);
      const events = await kit.events(run);
      const version = await kit.store.controlVersion();
      for (const to of illegal) await refused("illegal_transition", change(kit, run, to));
      assert.deepEqual(await kit.store.run(run.id), before);
      assert.deepEqual(await kit.events(run), events);
      assert.equal(await kit.store.controlVersion(), version);
      if (TERMINAL_RUN_STATES.includes(from)) await finish(kit, run);
    });

    for (const to of RUN_TRANSITIONS[from]) {
      scenario(`a run that is ${from} may become ${to}: stamped, logged, announced to owners`, async (kit) => {
        const run = await runIn(kit, from);
        const version = await kit.store.controlVersion();
        const seq = (await kit.events(run)).length;
        const before = (await kit.store.run(run.id))?.generation ?? 0;
        kit.pass(1000);
        const moved = await change(kit, run, to);
        const ends = TERMINAL_RUN_STATES.includes(to);
        const events = (await kit.events(run)).slice(seq);
        assert.equal(events[0]?.message, `Run ${to}`);
        assert.equal(events[0]?.createdAt, kit.now);
        assert.ok((await kit.store.controlVersion()) > version);
        if (moved.status === to) {
          assert.equal(moved.message, `Run ${to}`);
          assert.equal(moved.finishedAt, ends ? kit.now : null);
        } else {
          // With nothing left to do it ends at once.
          assert.deepEqual([to, moved.status, moved.finishedAt], ["running", "completed", kit.now]);
        }
        assert.equal(moved.generation, before + (TERMINAL_RUN_STATES.includes(from) ? 1 : 0));
        await finish(kit, run);
      });
    }
  }

  scenario("a failed run that recovers ends a second time, in its second generation", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    await kit.work(lane, FAILED);
    await change(kit, run, "recovering");
    await kit.expectClean();
    await kit.store.retryFailed(run.id, { limit: 10 }, kit.now);
    const running = await change(kit, run, "running");
    assert.deepEqual([running.status, running.generation], ["running", 2]);
    await kit.work(lane, DONE);
    assert.equal(await kit.status(run), "completed");
    assert.equal((await kit.ends(run)).length, 2);
  });

  scenario("a run keeps the time of its first start", async (kit) => {
    const run = await kit.runWith(["a"]);
    kit.pass(500);
    const started = kit.now;
    const lane = await kit.take("A");
    const claim = await kit.claim(lane);
    kit.pass(500);
    await change(kit, run, "paused");
    assert.equal((await change(kit, run, "running")).startedAt, started);
    await kit.settle(lane, claim.tasks, DONE);
    assert.equal((await kit.store.run(run.id))?.finishedAt, kit.now);
  });

  scenario("a run with nothing to do ends when it starts", async (kit) => {
    const run = await kit.run();
    assert.equal((await change(kit, run, "running")).status, "completed");
    assert.equal((await kit.ends(run)).length, 1);
  });

  scenario("a paused run whose last task settles stays paused, and ends when it is resumed", async (kit) => {
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await change(kit, run, "paused");
    assert.deepEqual((await kit.settle(lane, tasks, DONE)).ended, []);
    assert.equal(await kit.status(run), "paused");
    await kit.expectClean();
    assert.equal((await change(kit, run, "running")).status, "completed");
    assert.equal((await kit.ends(run)).length, 1);
  });
}

/** Brings the run to a state in which nothing of it is left open. */
async function finish(kit: Kit, run: RunRecord): Promise<void> {
  const status = await kit.status(run);
  if (status === "cancelled" || (await kit.store.tasks(run.id, { states: ["queued"], limit: 1 })).length === 0) return;
  if (status !== "running" && status !== "queued") await change(kit, run, "running");
  await kit.work(await kit.take("A"), DONE);
  assert.equal(await kit.status(run), "completed");
}
