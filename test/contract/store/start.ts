import assert from "node:assert/strict";
import type { RunFilter } from "../../../src/store/records/job-records.ts";
import type { NewRun } from "../../../src/store/ports/port.ts";
import { DONE, FAILED, type Kit, LANE, newTask, NOBODY, refusedField, retryAt, type Scenario, walk } from "./kit.ts";

const OTHER = "site:b.example";
const RUN: NewRun = { kind: "page", maxAttempts: 3, snapshot: { url: "https://a.example/" } };

async function names(kit: Kit, filter: Partial<RunFilter>): Promise<(string | null)[]> {
  return (await kit.store.runs({ limit: 100, ...filter })).map((run) => run.name);
}

export function startScenarios(scenario: Scenario): void {
  scenario("a run and its tasks appear together, its lanes are told, and its log says what it is", async (kit) => {
    const given = { name: "prices", url: "https://a.example/", site: "a.example", jobId: NOBODY };
    const { created, lanes, replayed } = await kit.store.startRun(
      { ...RUN, ...given, meta: { trigger: "by hand" } },
      [newTask("a"), newTask("b", { lane: OTHER }), newTask("c", { resolver: "r" }), newTask("a")],
      kit.now,
    );
    assert.deepEqual([lanes.toSorted(), replayed], [[LANE, OTHER], false]);
    assert.deepEqual(
      {
        name: created.name,
        url: created.url,
        site: created.site,
        jobId: created.jobId,
        status: created.status,
        facts: created.facts,
      },
      { ...given, status: "queued", facts: {} },
    );
    const other = await kit.open();
    assert.deepEqual(await other.run(created.id), created);
    assert.deepEqual(await kit.counts(created), { queued: 3 });
    assert.deepEqual(await kit.states(created), { a: "queued", b: "queued", c: "queued" });
    assert.deepEqual(new Set((await other.lanesWithWork()).map((work) => work.lane)), new Set([LANE, OTHER]));
    const [event, ...rest] = await kit.events(created);
    assert.deepEqual([event?.message, event?.meta, rest], ["Run created", { kind: "page", trigger: "by hand" }, []]);
    for (const name of [LANE, OTHER]) await kit.work(await kit.take("A", name), DONE);
    assert.equal(await kit.status(created), "completed");
  });

  scenario("the same key in two runs is two tasks", async (kit) => {
    const [one, two] = [await kit.page("same"), await kit.page("same")];
    assert.deepEqual([await kit.counts(one), await kit.counts(two)], [{ queued: 1 }, { queued: 1 }]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    assert.deepEqual(new Set(tasks.map((task) => task.runId)), new Set([one.id, two.id]));
    assert.ok(tasks.every((task) => task.runKind === "page" && task.memory === null));
  });

  scenario("a run that starts without tasks gets them later", async (kit) => {
    const { created, lanes } = await kit.store.startRun({ ...RUN, kind: "queue" }, [], kit.now);
    assert.deepEqual(lanes, []);
    assert.equal(await kit.status(created), "queued");
    await kit.enqueue(created, ["a"]);
    await kit.work(await kit.take("A"), DONE);
    assert.equal(await kit.status(created), "completed");
  });

  scenario("a run whose tasks cannot be written is not there at all", async (kit) => {
    const wrong = newTask("wrong", { priority: "high" as unknown as number, key: undefined as unknown as string });
    await assert.rejects(kit.store.startRun(RUN, [newTask("a"), wrong], kit.now));
    assert.deepEqual(await kit.store.runs({ limit: 10 }), []);
    assert.deepEqual(await kit.store.lanesWithWork(), []);
  });

  scenario("a page run that fails says why in its last event", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const facts = {
      attempt: 1,
      failure_code: "blocked",
      failure_reason: "captcha_page",
      error_message: "the page asks for a captcha",
    } as const;
    await kit.report(lane, tasks, FAILED, { run: { events: [], facts } });
    const last = (await kit.events(run)).at(-1);
    assert.deepEqual([last?.level, last?.message], ["error", "Run failed: the page asks for a captcha"]);
    assert.deepEqual(last?.meta, { attempt: 1, failure_code: "blocked", failure_reason: "captcha_page" });
    const ended = await kit.store.run(run.id);
    assert.deepEqual([ended?.status, ended?.message, ended?.facts], ["failed", last?.message, facts]);
  });

  scenario(
    "a page run that fails without a report says why nonetheless, and not what was wrong before",
    async (kit) => {
      const run = await kit.page();
      const lane = await kit.take("A");
      const before = { failure_code: "timeout", failure_reason: "timeout_idle", error_message: "it was slow" } as const;
      const first = await kit.claim(lane);
      await kit.report(lane, first.tasks, retryAt(kit.now), { run: { events: [], facts: { attempt: 1, ...before } } });
      const second = await kit.claim(lane);
      await kit.store.settle(
        [{ hold: lane, tasks: second.tasks.map((task) => ({ task, verdict: FAILED, attempt: null })) }],
        kit.now,
      );
      const ended = await kit.store.run(run.id);
      assert.deepEqual([ended?.status, ended?.message], ["failed", "Run failed: gone"]);
      assert.deepEqual(
        [ended?.facts.failure_code, ended?.facts.failure_reason, ended?.facts.error_message],
        ["bad_response", "http_not_found", "gone"],
      );
    },
  );

  scenario("a page run that succeeds says what came of it in its last event", async (kit) => {
    const run = await kit.page();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const stats = {
      http_status: 200,
      content_type: "text/html",
      content_length: 12,
      title: "A page",
      final_url: "https://a.example/page",
      duration_ms: 5,
      strategy: "http",
    };
    await kit.report(lane, tasks, DONE, { run: { events: [], facts: { attempt: 1, stats } } });
    const last = (await kit.events(run)).at(-1);
    assert.deepEqual([last?.message, last?.meta], ["Run completed", { attempt: 1, stats }]);
  });

  scenario("runs come newest first, in pages, without gaps or doubles while others start", async (kit) => {
    const created: string[] = [];
    for (let n = 0; n < 8; n += 1) created.unshift((await kit.run()).id);
    const seen = await walk(
      (position) => kit.store.runs(position),
      3,
      () => kit.run(),
    );
    assert.deepEqual(
      seen.map(({ id }) => id),
      created,
    );
    assert.deepEqual(await kit.store.runs({ limit: 1 }), (await kit.store.runs({ limit: 100 })).slice(0, 1));
  });

  scenario("filters narrow the list of runs, alone and together", async (kit) => {
    const job = "5e5d2a0e-95d5-4f3e-8d1a-3d3f8d1c9a77";
    await kit.page("one", { name: "one", jobId: job, site: "a.example", url: "https://a.example/prices" });
    await kit.page("two", { name: "Prices", site: "b.example", url: "https://b.example/" });
    const three = await kit.run({ name: "three", kind: "crawl", jobId: job, site: "a.example" });
    await kit.run();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 1);
    await kit.settle(lane, tasks, DONE);
    assert.deepEqual(await names(kit, {}), [null, "three", "Prices", "one"]);
    assert.deepEqual(await names(kit, { jobId: job }), ["three", "one"]);
    assert.deepEqual(await names(kit, { jobId: NOBODY }), []);
    assert.deepEqual(await names(kit, { kind: "page" }), ["Prices", "one"]);
    assert.deepEqual(await names(kit, { site: "a.example" }), ["three", "one"]);
    assert.deepEqual(await names(kit, { status: ["completed"] }), ["one"]);
    assert.deepEqual(await names(kit, { status: ["queued", "completed"] }), [null, "three", "Prices", "one"]);
    assert.deepEqual(await names(kit, { status: [] }), []);
    assert.deepEqual(await names(kit, { q: "prices" }), ["Prices", "one"]);
    assert.deepEqual(await names(kit, { q: three.id }), ["three"]);
    assert.deepEqual(await names(kit, { q: three.id.slice(0, 8) }), ["three"]);
    assert.deepEqual(await names(kit, { q: three.id.slice(0, 7) }), []);
    assert.deepEqual(await names(kit, { jobId: job, kind: "page", status: ["completed"], q: "price" }), ["one"]);
    assert.deepEqual(await names(kit, { jobId: job, kind: "crawl", site: "b.example" }), []);
    assert.deepEqual(await names(kit, { jobId: job, after: three.id }), ["one"]);
  });

  scenario("signs that mean something to a database are only letters in a search of runs", async (kit) => {
    for (const name of ["50% off", "50 off", "a_b", "axb", String.raw`c\d`, "cd"]) await kit.run({ name });
    assert.deepEqual(await names(kit, { q: "%" }), ["50% off"]);
    assert.deepEqual(await names(kit, { q: "a_b" }), ["a_b"]);
    assert.deepEqual(await names(kit, { q: "\\" }), [String.raw`c\d`]);
  });

  scenario("a position that is no run's is refused, and named", async (kit) => {
    const run = await kit.page();
    const task = await kit.store.taskByKey(run.id, "page");
    for (const after of [NOBODY, "not an id", "", task?.id ?? ""]) {
      await refusedField("after", kit.store.runs({ after, limit: 10 }));
    }
  });

  scenario("the states of many runs are read at once; unknown ones are left out", async (kit) => {
    const [one, two] = [await kit.page("one"), await kit.run()];
    await kit.store.changeRun(two.id, "cancelled", "Run cancelled", kit.now);
    const states = await kit.store.runStates([one.id, two.id, NOBODY, "not an id", one.id]);
    assert.deepEqual(
      states,
      new Map([
        [one.id, "queued"],
        [two.id, "cancelled"],
      ]),
    );
    assert.deepEqual(await kit.store.runStates([]), new Map());
  });
}
