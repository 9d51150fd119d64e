import assert from "node:assert/strict";
import type { JobFilter, NewJob } from "../../../src/store/records/job-records.ts";
import type { ScheduledTime } from "../../../src/domain/run/schedule-occurrences.ts";
import type { SkippedOccurrences } from "../../../src/store/ports/schedule-port.ts";
import { DONE, type Kit, newTask, NOBODY, refused, refusedField, type Scenario, walk } from "./kit.ts";

export function newJob(name: string | null, more: Partial<NewJob> = {}): NewJob {
  return {
    name,
    kind: "page",
    url: `https://a.example/${name ?? ""}`,
    site: "a.example",
    tags: [],
    recipe: { fields: [{ name: "title", css: "h1" }], list: [1, null] },
    nextAt: null,
    nextOccurrenceAt: more.nextAt ?? null,
    ...more,
  };
}

async function make(kit: Kit, name: string | null, more: Partial<NewJob> = {}) {
  return (await kit.store.createJob(newJob(name, more), kit.now)).created;
}

async function names(kit: Kit, filter: Partial<JobFilter>): Promise<(string | null)[]> {
  return (await kit.store.jobs({ limit: 100, ...filter })).map((job) => job.name);
}

/** A time of a schedule that nobody was there for. */
export function missedAt(at: number, until = at, count = 1): SkippedOccurrences {
  return { at, until, count, outcome: "missed", message: "nobody was there" };
}

/** A time without what chance adds. */
export function timeAt(scheduledAt: number): ScheduledTime {
  return { scheduledAt, at: scheduledAt };
}

export function jobScenarios(scenario: Scenario): void {
  scenario("a job is kept as it was given, and every connection reads it", async (kit) => {
    const kept = { keepRuns: 100, keepDays: null, fixtures: 3 };
    const policy = { ...kept, onDegraded: "pause_schedule" as const, autoRepair: true };
    const given = newJob("prices", { ...policy, tags: ["shop", "daily"], recipe: { deep: [{ ключ: "значение" }] } });
    const { created, lanes, replayed } = await kit.store.createJob(given, kit.now);
    assert.deepEqual([lanes, replayed], [[], false]);
    assert.deepEqual(created, {
      ...given,
      id: created.id,
      schedulePausedAt: null,
      createdAt: kit.now,
      updatedAt: kit.now,
    });
    const other = await kit.open();
    assert.deepEqual(await other.job(created.id), created);
    assert.deepEqual(await other.jobs({ limit: 10 }), [created]);
  });

  scenario("a job without a name, tags or a recipe is a job too", async (kit) => {
    const created = await make(kit, null, { recipe: null });
    assert.deepEqual([created.name, created.tags, created.recipe], [null, [], null]);
    assert.deepEqual(await kit.store.job(created.id), created);
  });

  scenario("an id that is no job's reads as null, and cannot be changed or deleted", async (kit) => {
    await make(kit, "one");
    for (const id of [NOBODY, "not an id", ""]) {
      assert.equal(await kit.store.job(id), null);
      await refused("not_found", kit.store.updateJob(id, { name: "new" }, kit.now));
      await refused("not_found", kit.store.deleteJob(id, kit.now));
    }
    assert.deepEqual(await names(kit, {}), ["one"]);
  });

  scenario("a change touches only what it names, and is stamped", async (kit) => {
    const created = await make(kit, "before", { tags: ["a"] });
    kit.pass(1000);
    const renamed = await kit.store.updateJob(created.id, { name: "after" }, kit.now);
    assert.deepEqual(renamed, { ...created, name: "after", updatedAt: kit.now });
    const rest = { name: null, kind: "crawl", url: "https://b.example/", site: "b.example", tags: ["b"], recipe: [2] };
    const changed = await kit.store.updateJob(created.id, rest, kit.now);
    assert.deepEqual(changed, { ...renamed, ...rest });
    assert.deepEqual(await kit.store.updateJob(created.id, {}, kit.now), changed);
    assert.deepEqual(await kit.store.job(created.id), changed);
  });

  scenario("the newest run of each job says how it is getting on; jobs without runs say nothing", async (kit) => {
    const [busy, done, idle] = [await make(kit, "busy"), await make(kit, "done"), await make(kit, "idle")];
    const start = (jobId: string) =>
      kit.store.startRun({ kind: "page", jobId, maxAttempts: 1, snapshot: null }, [], kit.now);
    await start(busy.id);
    const ended = (await start(done.id)).created;
    await kit.store.changeRun(ended.id, "cancelled", "Run cancelled", kit.now);
    kit.pass(1000);
    const newest = (await start(busy.id)).created;
    const last = await kit.store.lastRuns([busy.id, done.id, idle.id, NOBODY]);
    assert.deepEqual([...last.keys()].toSorted(), [busy.id, done.id].toSorted());
    assert.deepEqual(last.get(busy.id), {
      id: newest.id,
      kind: "page",
      status: "queued",
      progress: 0,
      createdAt: kit.now,
      startedAt: null,
      finishedAt: null,
    });
    assert.deepEqual([last.get(done.id)?.id, last.get(done.id)?.status], [ended.id, "cancelled"]);
    assert.equal((await kit.store.lastRuns([])).size, 0);
  });

  scenario("jobs come newest first, in pages, without gaps or doubles while others are added", async (kit) => {
    const created: string[] = [];
    for (let n = 0; n < 11; n += 1) created.unshift((await make(kit, `j${n}`)).id);
    let late = 0;
    const seen = await walk(
      (position) => kit.store.jobs(position),
      3,
      () => make(kit, `late ${(late += 1)}`),
    );
    assert.deepEqual(
      seen.map((job) => job.id),
      created,
    );
    assert.ok(late >= 4, "others were added between the pages");
    assert.equal((await kit.store.jobs({ limit: 100 })).length, 11 + late);
  });

  scenario("a change does not move a job within the list", async (kit) => {
    const first = await make(kit, "first");
    await make(kit, "second");
    kit.pass(10);
    await kit.store.updateJob(first.id, { name: "first again" }, kit.now);
    assert.deepEqual(await names(kit, {}), ["second", "first again"]);
  });

  scenario("a position that is no job's is refused, and named", async (kit) => {
    await make(kit, "one");
    const run = await kit.run();
    for (const after of [NOBODY, "not an id", "", run.id]) {
      await refusedField("after", kit.store.jobs({ after, limit: 10 }));
    }
  });

  scenario("a reader goes on behind a job that was deleted meanwhile", async (kit) => {
    for (let n = 0; n < 6; n += 1) await make(kit, `j${n}`);
    const page = await kit.store.jobs({ limit: 2 });
    for (const { id } of page) await kit.store.deleteJob(id, kit.now);
    await make(kit, "late");
    assert.deepEqual(await names(kit, { after: page[1]?.id ?? "", limit: 3 }), ["j3", "j2", "j1"]);
  });

  scenario("an id is never given twice: runs of a deleted job are not those of the next one", async (kit) => {
    const ids = new Set<string>();
    for (let n = 0; n < 3; n += 1) {
      const { id } = await make(kit, "again");
      ids.add(id);
      await kit.store.deleteJob(id, kit.now);
    }
    assert.equal(ids.size, 3);
  });

  scenario("filters narrow the list, alone and together", async (kit) => {
    await make(kit, "Prices", { tags: ["shop", "daily"] });
    await make(kit, "News", { tags: ["daily"], site: "b.example", url: "https://b.example/prices" });
    await make(kit, null, { tags: ["shop"], url: "https://a.example/list" });
    assert.deepEqual(await names(kit, { tag: "shop" }), [null, "Prices"]);
    assert.deepEqual(await names(kit, { tag: "sho" }), []);
    assert.deepEqual(await names(kit, { tag: "Shop" }), []);
    assert.deepEqual(await names(kit, { site: "b.example" }), ["News"]);
    assert.deepEqual(await names(kit, { q: "price" }), ["News", "Prices"]);
    assert.deepEqual(await names(kit, { q: "a.example/l" }), [null]);
    assert.deepEqual(await names(kit, { q: "" }), [null, "News", "Prices"]);
    assert.deepEqual(await names(kit, { q: "prices", site: "a.example" }), ["Prices"]);
    assert.deepEqual(await names(kit, { q: "price", tag: "daily", site: "b.example" }), ["News"]);
    assert.deepEqual(await names(kit, { q: "price", tag: "shop", site: "b.example" }), []);
    const [newest] = await kit.store.jobs({ tag: "shop", limit: 1 });
    assert.deepEqual(await names(kit, { tag: "shop", after: newest?.id ?? "" }), ["Prices"]);
  });

  scenario("signs that mean something to a database are only letters in a search", async (kit) => {
    for (const name of ["50% off", "50 off", "a_b", "axb", String.raw`c\d`, "cd", "it's", 'say "x"']) {
      await make(kit, name, { url: "https://a.example/" });
    }
    assert.deepEqual(await names(kit, { q: "50%" }), ["50% off"]);
    assert.deepEqual(await names(kit, { q: "%" }), ["50% off"]);
    assert.deepEqual(await names(kit, { q: "_" }), ["a_b"]);
    assert.deepEqual(await names(kit, { q: "\\" }), [String.raw`c\d`]);
    assert.deepEqual(await names(kit, { q: String.raw`c\d` }), [String.raw`c\d`]);
    assert.deepEqual(await names(kit, { q: "t's" }), ["it's"]);
    assert.deepEqual(await names(kit, { q: '"x' }), ['say "x"']);
  });

  scenario("tags are compared as a whole, whatever signs are in them", async (kit) => {
    await make(kit, "one", { tags: ["a,b", '"quoted"', "%"] });
    await make(kit, "two", { tags: ["a", "b"] });
    assert.deepEqual(await names(kit, { tag: "a,b" }), ["one"]);
    assert.deepEqual(await names(kit, { tag: '"quoted"' }), ["one"]);
    assert.deepEqual(await names(kit, { tag: "%" }), ["one"]);
    assert.deepEqual(await names(kit, { tag: "a" }), ["two"]);
  });

  scenario("a job with a live run is not deleted; with ended ones it is, and they stay readable", async (kit) => {
    const job = await make(kit, "prices");
    const run = await kit.page("one", { jobId: job.id, name: "prices", url: job.url, site: job.site });
    const refuse = () => refused("illegal_transition", kit.store.deleteJob(job.id, kit.now));
    await refuse();
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await refuse();
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await refuse();
    await kit.store.changeRun(run.id, "running", "Run resumed", kit.now);
    await kit.settle(lane, tasks, { ...DONE, kind: "completed", artifacts: [], results: ["kept"], detail: null });
    const cancelled = await kit.page("two", { jobId: job.id });
    await refuse();
    await kit.store.changeRun(cancelled.id, "cancelled", "Run cancelled", kit.now);
    await kit.store.sweepEnded(10, kit.now);

    await kit.store.deleteJob(job.id, kit.now);
    assert.equal(await kit.store.job(job.id), null);
    assert.deepEqual(await kit.store.jobs({ limit: 10 }), []);
    await refused("not_found", kit.store.deleteJob(job.id, kit.now));
    const left = await kit.store.run(run.id);
    assert.deepEqual([left?.status, left?.jobId, left?.name], ["completed", job.id, "prices"]);
    assert.deepEqual(
      (await kit.store.runs({ jobId: job.id, limit: 10 })).map(({ id }) => id),
      [cancelled.id, run.id],
    );
    assert.equal(await kit.store.countResults(run.id), 1);
    assert.ok((await kit.events(run)).length >= 3);
  });

  scenario("the runs of other jobs do not keep a job", async (kit) => {
    const [mine, other] = [await make(kit, "mine"), await make(kit, "other")];
    await kit.store.startRun(
      { kind: "page", jobId: other.id, maxAttempts: 1, snapshot: null },
      [newTask("k")],
      kit.now,
    );
    await kit.store.deleteJob(mine.id, kit.now);
    assert.deepEqual(await names(kit, {}), ["other"]);
  });

  scenario("jobs whose time has come are told in order, and each occurrence is dealt with once", async (kit) => {
    const late = await make(kit, "late", { nextAt: kit.now - 5000 });
    const due = await make(kit, "due", { nextAt: kit.now });
    await make(kit, "later", { nextAt: kit.now + 1 });
    await make(kit, "never");
    const names = async () => (await kit.store.dueJobs(kit.now, 10)).map(({ name }) => name);
    assert.deepEqual(await names(), ["late", "due"]);
    assert.equal((await kit.store.dueJobs(kit.now, 1)).length, 1);
    const other = await kit.open();
    const occurrence = kit.now - 5000;
    assert.deepEqual(
      [
        await kit.store.skipOccurrences(late.id, missedAt(occurrence), timeAt(kit.now + 60_000), kit.now),
        await other.skipOccurrences(late.id, missedAt(occurrence), timeAt(kit.now + 1), kit.now),
      ],
      [true, false],
    );
    assert.equal((await kit.store.job(late.id))?.nextAt, kit.now + 60_000);
    assert.deepEqual(await names(), ["due"]);
    assert.equal(await kit.store.skipOccurrences(due.id, missedAt(kit.now), null, kit.now), true);
    assert.deepEqual(await names(), []);
  });

  scenario("many jobs of one time are told page by page, whatever becomes of those before", async (kit) => {
    const created: string[] = [];
    for (let n = 0; n < 7; n += 1) created.push((await make(kit, `j${n}`, { nextAt: kit.now - (n < 2 ? 1 : 0) })).id);
    const seen: string[] = [];
    for (let page = await kit.store.dueJobs(kit.now, 2); page.length > 0;) {
      const last = page.at(-1)!;
      seen.push(...page.map(({ id }) => id));
      // Of each page one is dealt with, and one stays due.
      await kit.store.skipOccurrences(last.id, missedAt(last.nextAt!), timeAt(kit.now + 1), kit.now);
      page = await kit.store.dueJobs(kit.now, 2, last);
    }
    assert.deepEqual(seen, created);
    assert.equal((await kit.store.dueJobs(kit.now, 10)).length, 3);
  });
}
