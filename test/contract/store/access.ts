import assert from "node:assert/strict";
import { asCaller, type Caller, type Limits } from "../../../src/domain/access/caller.ts";
import type { NewKey } from "../../../src/store/ports/security/access-port.ts";
import { newJob, timeAt } from "./jobs.ts";
import { type Kit, NOBODY, newTask, refused, type Scenario } from "./kit.ts";
import { newSession } from "./sessions.ts";

const NO_LIMITS: Limits = { jobs: null, sites: null, tags: null };

function newKey(name: string, more: Partial<NewKey> = {}): NewKey {
  const hash = Buffer.from(name).toString("hex").padEnd(64, "0");
  return {
    name,
    hash,
    prefix: "orb_abc",
    role: "operator",
    limits: NO_LIMITS,
    requestsPerMinute: null,
    expiresAt: null,
    ...more,
  };
}

function caller(name: string, limits: Limits | null = null): Caller {
  return { actor: { kind: "key", id: `id of ${name}`, name }, limits, ip: "192.0.2.1", requestId: `call of ${name}` };
}

const as = <T>(name: string, work: () => Promise<T>, limits: Limits | null = null) =>
  asCaller(caller(name, limits), work);

const newRun = (site: string, more: object = {}) => ({
  kind: "page" as const,
  url: `https://${site}/`,
  site,
  maxAttempts: 3,
  snapshot: {},
  ...more,
});

const start = (kit: Kit, site: string, more: object = {}) =>
  kit.store.startRun(newRun(site, more), [newTask("one", { lane: `site:${site}`, site })], kit.now);

const actions = async (kit: Kit) => (await kit.store.auditLog({ limit: 100 })).map(({ action }) => action).toReversed();

export function accessScenarios(scenario: Scenario): void {
  scenario("a key is found by its hash and its id, by every process, with who created it", async (kit) => {
    const given = newKey("ci", { limits: { ...NO_LIMITS, tags: ["shop"] }, requestsPerMinute: 60, expiresAt: 9e12 });
    const created = await as("alice", () => kit.store.createKey(given, kit.now));
    const other = await kit.open();
    assert.deepEqual(await other.keyByHash(given.hash), created);
    assert.deepEqual(await other.key(created.id), created);
    const { id, createdAt, createdBy, lastUsedAt, revokedAt, ...rest } = created;
    assert.deepEqual(rest, given);
    assert.deepEqual([createdAt, lastUsedAt, revokedAt], [kit.now, null, null]);
    assert.deepEqual(createdBy, { kind: "key", id: "id of alice", name: "alice" });
    assert.equal(await other.keyByHash("0".repeat(64)), null);
    assert.equal(await other.key(NOBODY), null);
    assert.notEqual(id, NOBODY);
  });

  scenario("keys are listed newest first, page after page, with or without those that are revoked", async (kit) => {
    for (const name of ["a", "b", "c", "d"]) {
      const { id } = await kit.store.createKey(newKey(name), kit.now);
      if (name === "b") await kit.store.revokeKey(id, kit.now);
    }
    const names = async (filter: { revoked?: boolean; after?: string; limit: number }) =>
      (await kit.store.keys(filter)).map(({ name }) => name).join("");
    assert.equal(await names({ limit: 10 }), "dcba");
    assert.equal(await names({ limit: 10, revoked: false }), "dca");
    assert.equal(await names({ limit: 10, revoked: true }), "b");
    const [, second] = await kit.store.keys({ limit: 2 });
    assert.equal(await names({ limit: 10, after: second!.id }), "ba");
    await refused("input_invalid", kit.store.keys({ limit: 1, after: NOBODY }));
  });

  scenario("a key is revoked once and for ever; until then it can be changed", async (kit) => {
    const { id } = await kit.store.createKey(newKey("a"), kit.now);
    const change = { name: "b", role: "viewer", limits: { ...NO_LIMITS, sites: ["a.example"] } } as const;
    assert.equal((await kit.store.changeKey(id, change, kit.now)).name, "b");
    const revoked = await kit.store.revokeKey(id, kit.now);
    kit.pass(1000);
    assert.deepEqual(await kit.store.revokeKey(id, kit.now), revoked);
    assert.deepEqual((await kit.store.key(id))?.limits, change.limits);
    await refused("illegal_transition", kit.store.changeKey(id, { name: "c" }, kit.now));
    await refused("not_found", kit.store.revokeKey(NOBODY, kit.now));
    await refused("not_found", kit.store.changeKey(NOBODY, {}, kit.now));
  });

  scenario("its last use is written at most once a minute", async (kit) => {
    const { id } = await kit.store.createKey(newKey("a"), kit.now);
    const used: (number | null | undefined)[] = [];
    const begun = kit.now;
    for (const pass of [0, 59_000, 2000]) {
      kit.pass(pass);
      await kit.store.noteKeyUse(id, kit.now);
      used.push((await kit.store.key(id))?.lastUsedAt);
    }
    assert.deepEqual(used, [begun, begun, begun + 61_000]);
  });

  scenario("every change of a caller is recorded with the fields that differ, and without secrets", async (kit) => {
    const { created } = await as("alice", () =>
      kit.store.createJob(newJob("a", { recipe: { headers: { Authorization: "s3cret" }, strategy: "http" } }), kit.now),
    );
    await as("bob", () =>
      kit.store.updateJob(
        created.id,
        {
          name: "b",
          url: "https://u:s3cret@a.example/",
          recipe: { headers: { Authorization: "s3cret2" }, strategy: "browser" },
        },
        kit.now,
      ),
    );
    await as("bob", () => kit.store.createSession(newSession("login", { sealed: Buffer.from("s3cret") }), kit.now));
    await as("bob", () => kit.store.deleteJob(created.id, kit.now));
    const log = await kit.store.auditLog({ limit: 10 });
    assert.deepEqual(
      log.map(({ actor, action }) => `${actor.name} ${action}`),
      ["bob job.deleted", "bob session.created", "bob job.updated", "alice job.created"],
    );
    const [, , updated] = log;
    assert.deepEqual(updated?.object, { kind: "job", id: created.id });
    assert.deepEqual([updated?.ip, updated?.requestId], ["192.0.2.1", "call of bob"]);
    const values = Object.fromEntries(updated!.changes.map(({ path, before, after }) => [path, [before, after]]));
    assert.deepEqual(values["name"], ["a", "b"]);
    assert.deepEqual(values["recipe.strategy"], ["http", "browser"]);
    assert.deepEqual(values["recipe.headers"], ["***", "***"]);
    assert.doesNotMatch(JSON.stringify(log), /s3cret/);
  });

  scenario("what the program does by itself is not in the log, and a refused change neither", async (kit) => {
    const { created } = await kit.store.createJob(newJob("a"), kit.now);
    await kit.store.updateJob(created.id, { name: "b" }, kit.now);
    await refused(
      "version_conflict",
      as("bob", () => kit.store.updateJob(created.id, { name: "c" }, kit.now, "old")),
    );
    await refused(
      "not_found",
      as("bob", () => kit.store.deleteSession(NOBODY)),
    );
    assert.deepEqual(await actions(kit), []);
  });

  scenario("calls at the same time are each recorded as their own caller's", async (kit) => {
    const names = Array.from({ length: 8 }, (_, at) => `caller ${at}`);
    const made = await Promise.all(names.map((name) => as(name, () => kit.store.createJob(newJob(name), kit.now))));
    const log = await kit.store.auditLog({ limit: 100 });
    for (const [at, { created }] of made.entries())
      assert.equal(log.find(({ object }) => object.id === created.id)?.actor.name, names[at]);
  });

  scenario("a run knows who started it, and its changes are recorded", async (kit) => {
    const { created } = await as("alice", () => start(kit, "a.example"));
    assert.deepEqual((await kit.store.run(created.id))?.startedBy, { kind: "key", id: "id of alice", name: "alice" });
    await as("bob", () => kit.store.changeRun(created.id, "paused", "Run paused", kit.now));
    await as("bob", () => kit.store.changeRun(created.id, "running", "Run resumed", kit.now));
    await as("bob", () => kit.store.changeRun(created.id, "cancelled", "Run cancelled", kit.now));
    assert.deepEqual(await actions(kit), ["run.started", "run.paused", "run.resumed", "run.cancelled"]);
    assert.equal((await kit.store.run((await start(kit, "b.example")).created.id))?.startedBy, null);
  });

  scenario("the log is filtered by actor, action, object and time, and read page after page", async (kit) => {
    const { created } = await as("alice", () => kit.store.createJob(newJob("a"), kit.now));
    kit.pass(1000);
    const later = kit.now;
    await as("bob", () => kit.store.updateJob(created.id, { name: "b" }, kit.now));
    await as("bob", () => kit.store.createJob(newJob("c"), kit.now));
    await as("bob", () => kit.store.createSession(newSession("login"), kit.now));
    const count = async (filter: object) => (await kit.store.auditLog({ limit: 10, ...filter })).length;
    assert.equal(await count({ actor: "bob" }), 3);
    assert.equal(await count({ actor: "id of alice" }), 1);
    assert.equal(await count({ actorKind: "schedule" }), 0);
    assert.equal(await count({ action: "job" }), 3);
    assert.equal(await count({ action: "job.updated" }), 1);
    assert.equal(await count({ action: "jo" }), 0);
    assert.equal(await count({ objectKind: "session" }), 1);
    assert.equal(await count({ objectId: created.id }), 2);
    assert.equal(await count({ since: later }), 3);
    assert.equal(await count({ until: later }), 1);
    const [first] = await kit.store.auditLog({ limit: 1 });
    assert.equal(await count({ before: first!.seq }), 3);
  });

  scenario("entries expire, oldest first, and nothing else removes or changes them", async (kit) => {
    for (const name of ["a", "b", "c"]) {
      await as(name, () => kit.store.recordAudit("test.done", { kind: "test", id: name }));
      kit.pass(1000);
    }
    assert.equal(await kit.store.trimAuditLog(kit.now - 1500, 1), 1);
    assert.deepEqual(
      (await kit.store.auditLog({ limit: 10 })).map(({ object }) => object.id),
      ["c", "b"],
    );
    assert.equal(await kit.store.trimAuditLog(kit.now - 1500, 10), 1);
    assert.equal(await kit.store.trimAuditLog(kit.now - 1500, 10), 0);
  });

  scenario("a caller with limits sees only what is within them, in lists as well", async (kit) => {
    const inside = (await kit.store.createJob(newJob("in", { tags: ["shop", "x"] }), kit.now)).created;
    const outside = (await kit.store.createJob(newJob("out", { tags: ["news"] }), kit.now)).created;
    const run = (await start(kit, "a.example", { jobId: inside.id })).created;
    const hidden = (await start(kit, "b.example", { jobId: outside.id })).created;
    const cases: Limits[] = [
      { ...NO_LIMITS, jobs: [inside.id] },
      { ...NO_LIMITS, tags: ["shop", "other"] },
      { jobs: [inside.id, outside.id], sites: null, tags: ["shop"] },
    ];
    for (const limits of cases) {
      const seen = <T>(work: () => Promise<T>) => as("limited", work, limits);
      assert.deepEqual(
        (await seen(() => kit.store.jobs({ limit: 1 }))).map(({ id }) => id),
        [inside.id],
      );
      assert.deepEqual(
        (await seen(() => kit.store.runs({ limit: 1 }))).map(({ id }) => id),
        [run.id],
      );
      assert.equal(await seen(() => kit.store.countRunsLike({ limit: 10 })), 1);
      assert.equal((await seen(() => kit.store.run(run.id)))?.id, run.id);
      assert.equal(await seen(() => kit.store.run(hidden.id)), null);
      assert.equal(await seen(() => kit.store.job(outside.id)), null);
      await refused(
        "not_found",
        seen(() => kit.store.results(hidden.id, { limit: 1 })),
      );
      await refused(
        "not_found",
        seen(() => kit.store.changeRun(hidden.id, "cancelled", "Run cancelled", kit.now)),
      );
      await refused(
        "not_found",
        seen(() => kit.store.updateJob(outside.id, { name: "x" }, kit.now)),
      );
      await refused(
        "not_found",
        seen(() => kit.store.deleteJob(outside.id, kit.now)),
      );
    }
    const site: Limits = { ...NO_LIMITS, sites: ["b.example"] };
    const ofSite = await as("limited", () => kit.store.runs({ limit: 10 }), site);
    assert.deepEqual(
      ofSite.map(({ id }) => id),
      [hidden.id],
    );
    assert.equal((await kit.store.runs({ limit: 10 })).length, 2);
  });

  scenario("a caller with limits starts and creates nothing outside of them, and moves nothing out", async (kit) => {
    const limits: Limits = { ...NO_LIMITS, sites: ["a.example"], tags: ["shop"] };
    const seen = <T>(work: () => Promise<T>) => as("limited", work, limits);
    const job = (more: object) => newJob("j", { site: "a.example", tags: ["shop"], ...more });
    const { created } = await seen(() => kit.store.createJob(job({}), kit.now));
    await refused(
      "outside_limits",
      seen(() => kit.store.createJob(job({ site: "b.example" }), kit.now)),
    );
    await refused(
      "outside_limits",
      seen(() => kit.store.createJob(job({ tags: [] }), kit.now)),
    );
    await refused(
      "outside_limits",
      seen(() => kit.store.updateJob(created.id, { tags: ["x"] }, kit.now)),
    );
    await seen(() => start(kit, "a.example", { jobId: created.id }));
    await refused(
      "outside_limits",
      seen(() => start(kit, "a.example")),
    );
    await refused(
      "outside_limits",
      seen(() => start(kit, "b.example", { jobId: created.id })),
    );
    const foreign = [newTask("one", { lane: "site:b.example", site: "b.example" })];
    const run = newRun("a.example", { jobId: created.id });
    await refused(
      "outside_limits",
      seen(() => kit.store.startRun(run, foreign, kit.now)),
    );
    assert.equal((await kit.store.runs({ limit: 10 })).length, 1);
    assert.equal((await kit.store.jobs({ limit: 10 })).length, 1);
  });

  scenario("a stored answer is repeated only while its caller may see what it created", async (kit) => {
    const limits: Limits = { ...NO_LIMITS, sites: ["a.example"] };
    const once = { key: "key 1 once", fingerprint: "f" };
    const again = (seen: Limits | null) => as("limited", () => kit.store.answered(once, kit.now), seen);
    const job = newJob("j", { site: "a.example", url: "https://a.example/" });
    const { created } = await as("limited", () => kit.store.createJob(job, kit.now, once), limits);
    assert.equal(((await again(limits)) as { id: string }).id, created.id);
    await refused("outside_limits", again({ ...NO_LIMITS, sites: ["b.example"] }));
    await refused("outside_limits", again({ ...limits, tags: ["shop"] }));
    assert.equal(((await again(null)) as { id: string }).id, created.id);
    const run = { key: "key 1 run", fingerprint: "f" };
    const repeat = (seen: Limits) =>
      as(
        "limited",
        () => kit.store.startRun(newRun("a.example"), [newTask("one", { site: "a.example" })], kit.now, run),
        seen,
      );
    assert.equal((await repeat(limits)).replayed, false);
    assert.equal((await repeat(limits)).replayed, true);
    await refused("outside_limits", repeat({ ...NO_LIMITS, sites: ["b.example"] }));
    await kit.store.deleteJob(created.id, kit.now);
    await refused("outside_limits", again(limits));
  });

  scenario(
    "a job within the limits shows no run outside of them, neither as its last one nor in its schedule",
    async (kit) => {
      const limits: Limits = { ...NO_LIMITS, sites: ["b.example"] };
      const seen = <T>(work: () => Promise<T>) => as("limited", work, limits);
      const first = kit.now;
      const { created: job } = await kit.store.createJob(newJob("moved", { site: "a.example", nextAt: first }), first);
      const startDue = async (site: string, at: number) => {
        const due = { jobId: job.id, at, next: timeAt(at + 1000), overlap: "skip" as const };
        const run = newRun(site, { jobId: job.id });
        return kit.store.startOccurrence(run, [newTask("one", { lane: `site:${site}`, site })], due, kit.now);
      };
      const hidden = await startDue("a.example", first);
      assert.ok(hidden.kind === "started");
      assert.equal((await startDue("a.example", first + 1000)).kind, "blocked");
      await kit.store.updateJob(job.id, { site: "b.example", url: "https://b.example/" }, kit.now);
      assert.equal((await seen(() => kit.store.lastRuns([job.id]))).size, 0);
      await kit.store.changeRun(hidden.created.id, "cancelled", "Run cancelled", kit.now);
      const visible = await startDue("b.example", first + 2000);
      assert.ok(visible.kind === "started");
      const later = (await start(kit, "a.example", { jobId: job.id })).created;
      const lastOf = async (reading: Promise<Map<string, { id: string }>>) => (await reading).get(job.id)?.id;
      assert.equal(await lastOf(seen(() => kit.store.lastRuns([job.id]))), visible.created.id);
      assert.equal(await lastOf(kit.store.lastRuns([job.id])), later.id);
      const runsIn = async (limited: Limits | null) => {
        const slots = await as("any", () => kit.store.scheduleOccurrences(job.id, { limit: 10 }), limited);
        return slots.map(({ outcome, runId, message }) => [outcome, runId, message]);
      };
      const why = `the previous run has not ended: run ${hidden.created.id}, which is queued`;
      assert.deepEqual(await runsIn(null), [
        ["started", visible.created.id, null],
        ["skipped", hidden.created.id, why],
        ["started", hidden.created.id, null],
      ]);
      assert.deepEqual(await runsIn(limits), [
        ["started", visible.created.id, null],
        ["skipped", null, null],
        ["started", null, null],
      ]);
    },
  );

  scenario("a job is not deleted with runs that its caller may not see, nor while one of them goes on", async (kit) => {
    const limits: Limits = { ...NO_LIMITS, sites: ["b.example"] };
    const { created } = await kit.store.createJob(newJob("j", { site: "a.example" }), kit.now);
    const run = (await start(kit, "a.example", { jobId: created.id })).created;
    await kit.store.updateJob(created.id, { site: "b.example", url: "https://b.example/" }, kit.now);
    const remove = (runs: boolean) => as("limited", () => kit.store.deleteJob(created.id, kit.now, { runs }), limits);
    await refused("illegal_transition", remove(true));
    await refused("illegal_transition", remove(false));
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await refused("outside_limits", remove(true));
    assert.equal(await remove(false), null);
    assert.equal((await kit.store.run(run.id))?.status, "cancelled");
  });
}
