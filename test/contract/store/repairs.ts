import assert from "node:assert/strict";
import { asCaller } from "../../../src/domain/access/caller.ts";
import type { HealthProfile } from "../../../src/domain/health/profile.ts";
import { ProfileBuilder } from "../../../src/domain/health/profile.ts";
import { rulesOfJob } from "../../../src/domain/health/run-records.ts";
import type { RepairProposal } from "../../../src/domain/health/repair.ts";
import { failure } from "../../../src/domain/run/failure.ts";
import type { KeptPage } from "../../../src/domain/page/fixture.ts";
import type { NewRepair, RereadRun } from "../../../src/store/ports/repair-port.ts";
import { newJob } from "./jobs.ts";
import { attempt, DONE, type Kit, NOBODY, newTask, refused, type Scenario, type Verdict } from "./kit.ts";

const hashOf = (name: string) => Buffer.from(name.padEnd(32, ".")).toString("hex");
const page = (name: string): KeptPage => ({
  url: `https://a.example/${name}`,
  hash: hashOf(name),
  size: 10,
  contentType: "text/html",
  form: "bytes",
  isSealed: false,
});

const OLD = { crawl: { fields: { price: ".price" } } };
const NEW = { crawl: { fields: { price: ".amount" } } };
const RULES = "rules-1";
const BY = { before: RULES, after: "rules-2" };

const makeJob = async (kit: Kit) =>
  (await kit.store.createJob(newJob("prices", { kind: "crawl", recipe: OLD }), kit.now)).created.id;

function profileOf(records: readonly object[]): HealthProfile {
  const builder = new ProfileBuilder();
  for (const record of records) builder.add(record as Record<string, unknown>, "t", null);
  return builder.profile();
}

const records = (filled: number) => Array.from({ length: 40 }, (_, n) => ({ price: n < filled ? `€ ${n}` : null }));

/** A run of the job with one page that gives forty records, compared with those before. */
async function compared(kit: Kit, jobId: string, name: string, filled: number, rules = RULES): Promise<string> {
  kit.pass(1000);
  const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: OLD.crawl }, jobId };
  const { created } = await kit.store.startRun(run, [newTask(name)], kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  const lane = await kit.take("A");
  const { tasks } = await kit.claim(lane, 1);
  const results = records(filled).map((fields) => ({ url: name, fields }));
  await kit.report(lane, tasks, { ...DONE, results } as Verdict, { keptPage: page(name) });
  await kit.store.releaseLane(lane);
  const found = { rules, profile: profileOf(records(filled)) };
  const { generation } = (await kit.store.run(created.id))!;
  await kit.store.recordRunHealth({ runId: created.id, generation }, found, { deliver: false }, kit.now);
  return created.id;
}

/** A job with three good runs and a degraded one. */
async function degradedJob(kit: Kit): Promise<{ job: string; run: string }> {
  const job = await makeJob(kit);
  for (const name of ["a", "b", "c"]) await compared(kit, job, name, 40);
  return { job, run: await compared(kit, job, "d", 0) };
}

const proposal: RepairProposal = {
  fields: [{ field: "price", old_rule: ".price", new_rule: ".amount", confidence: 1, reason: null, values: [] }],
  pages: { paired: 3, others: 5 },
  reason: null,
};

const newRepair = (runId: string, version = 1, state: NewRepair["state"] = "open"): NewRepair => ({
  runId,
  version,
  state,
  proposal,
});

const ADA = { kind: "key", id: "id of ada", name: "ada" } as const;
const asAda = <T>(work: () => Promise<T>) => asCaller({ actor: ADA, limits: null, ip: null, requestId: null }, work);

const pagesOf = async (kit: Kit, runId: string) =>
  (await kit.store.runPages(runId, { limit: 100 })).map(({ url }) => url.slice("https://a.example/".length));

const typesOf = async (kit: Kit, runId: string) =>
  (await kit.store.events(runId, { limit: 100 })).map(({ type }) => type);

const rereadOf = (generation: number, taskId: string): RereadRun => ({
  generation,
  snapshot: { options: NEW.crawl },
  profile: profileOf(records(40)),
  tasks: [{ taskId, records: records(40).map((fields) => ({ url: "d", fields })) }],
  missing: 0,
});

export function repairScenarios(scenario: Scenario): void {
  scenario(
    "pages of a run are kept until it is compared, those of the degraded run until the next one",
    async (kit) => {
      const job = await makeJob(kit);
      const runs: string[] = [];
      for (const name of ["a", "b", "c"]) runs.push(await compared(kit, job, name, 40));
      for (const run of runs) assert.deepEqual(await pagesOf(kit, run), [], "its records are good");
      const first = await compared(kit, job, "d", 0);
      assert.deepEqual(await pagesOf(kit, first), ["d"]);
      assert.equal(await kit.store.isOrphaned(hashOf("d")), false);
      assert.equal((await kit.store.storedBytes({ after: 0, limit: 10 })).bytes, 10);
      const second = await compared(kit, job, "e", 0);
      assert.deepEqual([await pagesOf(kit, first), await pagesOf(kit, second)], [[], ["e"]]);
      await kit.store.deleteRun(second, kit.now);
      while ((await kit.store.removeExpired(100)) > 0);
      const { orphaned } = await kit.store.orphanedFiles({ limit: 100 });
      assert.deepEqual(orphaned.toSorted(), ["a", "b", "c", "d", "e"].map(hashOf));
      await kit.expectClean();
    },
  );

  scenario("a degraded run is considered once, and its proposal is told by an event and an alert", async (kit) => {
    const { job, run } = await degradedJob(kit);
    assert.equal((await kit.store.dutiesDue(kit.now)).repairs, true);
    assert.deepEqual(await kit.store.repairsDue(10), [{ jobId: job, runId: run }]);
    const recorded = await kit.store.recordRepair(job, newRepair(run), { deliver: true }, kit.now);
    assert.deepEqual([recorded?.alert?.kind, recorded?.alert?.subject], ["repair_proposed", job]);
    assert.deepEqual(await kit.store.repairsDue(10), []);
    assert.equal((await kit.store.dutiesDue(kit.now)).repairs, false);
    assert.deepEqual(await (await kit.open()).repair(job), {
      ...newRepair(run),
      number: 1,
      madeAt: kit.now,
      decidedAt: null,
      decidedBy: null,
    });
    assert.equal((await typesOf(kit, run)).at(-1), "repair.proposed");
    const again = await kit.store.recordRepair(job, newRepair(run, 1, "abstained"), {}, kit.now);
    assert.deepEqual([again?.repair.number, again?.repair.state, again?.alert], [2, "abstained", null]);
    assert.deepEqual([await kit.store.repair(NOBODY), (await kit.store.alerts({ limit: 10 })).length], [null, 2]);
  });

  scenario("accepting changes the rules as a version, once, and not after another change", async (kit) => {
    const { job, run } = await degradedJob(kit);
    const effect = { recipe: NEW, rules: BY, reread: null };
    await refused("not_found", kit.store.acceptRepair(job, 1, effect, kit.now));
    await kit.store.recordRepair(job, newRepair(run), {}, kit.now);
    await refused("not_found", kit.store.acceptRepair(job, 7, effect, kit.now));
    await refused("not_found", kit.store.rejectRepair(job, 7, kit.now));
    await kit.store.updateJob(job, { name: "other" }, kit.now);
    await refused("version_conflict", kit.store.acceptRepair(job, 1, effect, kit.now));
    assert.deepEqual((await kit.store.job(job))?.recipe, OLD);
    assert.equal(await kit.store.recordRepair(job, newRepair(run), {}, kit.now), null, "of the version before");

    await kit.store.recordRepair(job, newRepair(run, 2), {}, kit.now);
    const accepted = await asAda(() => kit.store.acceptRepair(job, 2, effect, kit.now));
    assert.deepEqual([accepted.state, accepted.decidedAt, accepted.decidedBy], ["accepted", kit.now, ADA]);
    assert.deepEqual((await kit.store.job(job))?.recipe, NEW);
    const [newest] = await kit.store.jobVersions(job, { limit: 1 });
    assert.deepEqual([newest?.version, newest?.author, newest?.madeBy], [3, "repair", ADA]);
    const event = (await kit.store.events(run, { limit: 100 })).at(-1)!;
    assert.deepEqual([event.type, (event.meta as { decided_by: unknown }).decided_by], ["repair.accepted", ADA]);
    await refused("illegal_transition", kit.store.acceptRepair(job, 2, effect, kit.now));
    await refused("illegal_transition", kit.store.rejectRepair(job, 2, kit.now));
    await kit.expectClean();
  });

  scenario("a rejected proposal stays rejected, and one of pages that are good again is outdated", async (kit) => {
    const { job, run } = await degradedJob(kit);
    await kit.store.recordRepair(job, newRepair(run), {}, kit.now);
    assert.equal((await kit.store.rejectRepair(job, 1, kit.now)).state, "rejected");
    await refused(
      "illegal_transition",
      kit.store.acceptRepair(job, 1, { recipe: NEW, rules: BY, reread: null }, kit.now),
    );
    const second = await compared(kit, job, "e", 0);
    assert.deepEqual(await kit.store.repairsDue(10), [{ jobId: job, runId: second }]);
    await kit.store.recordRepair(job, newRepair(second), {}, kit.now);
    await compared(kit, job, "f", 40);
    assert.equal((await kit.store.repair(job))?.state, "outdated");
    await kit.store.deleteJob(job, kit.now);
    assert.equal(await kit.store.repair(job), null);
    await kit.expectClean();
  });

  scenario("the same proposal after another run is not told again, and a rejected one stays rejected", async (kit) => {
    const { job, run } = await degradedJob(kit);
    const propose = async (runId: string, rule: string) => {
      const fields = [{ ...proposal.fields[0]!, new_rule: rule }];
      const repair = { ...newRepair(runId), proposal: { ...proposal, fields } };
      const recorded = await kit.store.recordRepair(job, repair, { deliver: false }, kit.now);
      return [recorded?.repair.state, recorded?.repair.runId === runId, recorded?.alert?.kind ?? null];
    };
    assert.deepEqual(await propose(run, ".amount"), ["open", true, "repair_proposed"]);
    const second = await compared(kit, job, "e", 0);
    assert.deepEqual(await propose(second, ".amount"), ["open", true, null]);
    await asAda(() => kit.store.rejectRepair(job, 2, kit.now));
    const third = await compared(kit, job, "f", 0);
    assert.deepEqual(await propose(third, ".amount"), ["rejected", true, null]);
    assert.deepEqual(await propose(third, ".sum"), ["open", true, "repair_proposed"]);
    assert.equal((await kit.store.repair(job))?.decidedBy, null);
    await kit.store.acceptHealth(job, kit.now);
    assert.equal((await kit.store.repair(job))?.state, "outdated", "the change is right");
  });

  scenario("an automatic repair replaces the records of the run with the rules of the job", async (kit) => {
    const { job, run } = await degradedJob(kit);
    const { generation } = (await kit.store.run(run))!;
    const [kept] = await kit.store.runPages(run, { limit: 10 });
    const stale = { recipe: NEW, rules: BY, reread: rereadOf(generation + 1, kept!.taskId) };
    assert.equal(await kit.store.recordRepair(job, newRepair(run), { deliver: false, effect: stale }, kit.now), null);
    assert.deepEqual((await kit.store.job(job))?.recipe, OLD, "the run went on meanwhile");
    const effect = { recipe: NEW, rules: BY, reread: rereadOf(generation, kept!.taskId) };
    const recorded = await kit.store.recordRepair(job, newRepair(run), { deliver: false, effect }, kit.now);
    assert.deepEqual([recorded?.repair.state, recorded?.alert?.kind], ["accepted", "repair_accepted"]);
    const program = { kind: "repair", id: job, name: "prices" };
    const [version] = await kit.store.jobVersions(job, { limit: 1 });
    assert.deepEqual([recorded?.repair.decidedBy, version?.madeBy], [program, program]);
    const results = await kit.store.results(run, { limit: 100 });
    assert.deepEqual(
      results.map(({ data, ordinal }) => [ordinal, data]),
      records(40).map((fields, index) => [index, { url: "d", fields }]),
    );
    const after = (await kit.store.run(run))!;
    assert.deepEqual([after.degraded, after.snapshot], [null, { options: NEW.crawl }]);
    const health = await kit.store.runHealth(job, { limit: 10 });
    assert.deepEqual(
      health.map(({ rules, isBaseline, reasons }) => [rules, isBaseline, reasons]),
      Array.from({ length: 4 }, () => ["rules-2", true, null]),
      "the good runs before stay the baseline",
    );
    assert.deepEqual(await pagesOf(kit, run), []);
    assert.equal((await typesOf(kit, run)).filter((type) => type.startsWith("repair.")).join(), "repair.accepted");
    await kit.expectClean();
  });

  scenario("a repair is accepted with records only for the run as it was read", async (kit) => {
    const { job, run } = await degradedJob(kit);
    await kit.store.recordRepair(job, newRepair(run), {}, kit.now);
    const { generation } = (await kit.store.run(run))!;
    const [task] = await kit.store.tasks(run, { limit: 1 });
    const effect = (of: number) => ({ recipe: NEW, rules: BY, reread: rereadOf(of, task!.id) });
    await refused("version_conflict", kit.store.acceptRepair(job, 1, effect(generation + 1), kit.now));
    assert.deepEqual((await kit.store.job(job))?.recipe, OLD);
    const before = (await kit.store.results(run, { limit: 100 })).map(({ id }) => id);
    assert.equal((await kit.store.acceptRepair(job, 1, effect(generation), kit.now)).state, "accepted");
    const after = await kit.store.results(run, { limit: 100 });
    assert.deepEqual(
      after.map(({ id }) => id),
      before,
    );
    assert.deepEqual(after[3]?.data, { url: "d", fields: { price: "€ 3" } });
    assert.equal((await kit.store.run(run))?.degraded, null);
    await kit.expectClean();
  });

  scenario("a newer run keeps a degraded run from being replaced", async (kit) => {
    const { job, run } = await degradedJob(kit);
    await kit.store.recordRepair(job, newRepair(run), {}, kit.now);
    const { generation } = (await kit.store.run(run))!;
    const [task] = await kit.store.tasks(run, { limit: 1 });
    await compared(kit, job, "e", 0);
    const effect = { recipe: NEW, rules: BY, reread: rereadOf(generation, task!.id) };
    await refused("version_conflict", kit.store.acceptRepair(job, 1, effect, kit.now));
    assert.equal((await kit.store.acceptRepair(job, 1, { ...effect, reread: null }, kit.now)).state, "accepted");
    await kit.expectClean();
  });

  scenario("accepted records are not replaced: the proposal for them is outdated", async (kit) => {
    const { job, run } = await degradedJob(kit);
    await kit.store.recordRepair(job, newRepair(run), {}, kit.now);
    const { generation } = (await kit.store.run(run))!;
    const [task] = await kit.store.tasks(run, { limit: 1 });
    const before = await kit.store.results(run, { limit: 100 });
    assert.equal(await kit.store.acceptHealth(job, kit.now), 1);
    const effect = { recipe: NEW, rules: BY, reread: rereadOf(generation, task!.id) };
    await refused("illegal_transition", kit.store.acceptRepair(job, 1, effect, kit.now));
    assert.deepEqual((await kit.store.job(job))?.recipe, OLD);
    assert.deepEqual(await kit.store.results(run, { limit: 100 }), before);
    await kit.expectClean();
  });

  scenario(
    "restoring rules from before a repair, and repaired ones, keeps the good runs as the baseline",
    async (kit) => {
      const job = await makeJob(kit);
      const labelOf = async () => rulesOfJob((await kit.store.job(job))!) ?? "";
      const old = await labelOf();
      for (const name of ["a", "b", "c"]) await compared(kit, job, name, 40, old);
      const run = await compared(kit, job, "d", 0, old);
      await kit.store.recordRepair(job, newRepair(run), {}, kit.now);
      const repaired = rulesOfJob({ ...(await kit.store.job(job))!, recipe: NEW }) ?? "";
      const rules = { before: old, after: repaired };
      await kit.store.acceptRepair(job, 1, { recipe: NEW, rules, reread: null }, kit.now);
      await compared(kit, job, "e", 40, repaired);
      const other = { crawl: { fields: { price: ".other" } } };
      await kit.store.updateJob(job, { recipe: other }, kit.now);
      const changed = await labelOf();
      await compared(kit, job, "f", 40, changed);
      const baseline = async () =>
        (await kit.store.runHealth(job, { limit: 10 })).filter(({ isBaseline }) => isBaseline).map((one) => one.rules);
      assert.deepEqual(await baseline(), [changed, ...Array.from({ length: 4 }, () => repaired)]);
      const restore = (version: number, recipe: unknown) =>
        kit.store.updateJob(job, { recipe }, kit.now, undefined, { author: "cli", restored: version });
      await restore(1, OLD);
      assert.deepEqual(await baseline(), [changed, ...Array.from({ length: 4 }, () => old)]);
      await restore(2, NEW);
      assert.deepEqual(await baseline(), [changed, ...Array.from({ length: 4 }, () => repaired)]);
      await restore(3, other);
      assert.deepEqual(await baseline(), [changed, ...Array.from({ length: 4 }, () => repaired)], "other values");
      await kit.expectClean();
    },
  );

  scenario(
    "only the newest run that was compared is repaired, and not after its records were accepted",
    async (kit) => {
      const { job, run } = await degradedJob(kit);
      const newer = await compared(kit, job, "e", 0);
      assert.deepEqual(await kit.store.repairsDue(10), [{ jobId: job, runId: newer }]);
      assert.equal(await kit.store.recordRepair(job, newRepair(run), { deliver: true }, kit.now), null);
      await kit.store.acceptHealth(job, kit.now);
      const { generation } = (await kit.store.run(newer))!;
      const [task] = await kit.store.tasks(newer, { limit: 1 });
      const effect = { recipe: NEW, rules: BY, reread: rereadOf(generation, task!.id) };
      assert.equal(await kit.store.recordRepair(job, newRepair(newer), { deliver: true, effect }, kit.now), null);
      assert.deepEqual((await kit.store.job(job))?.recipe, OLD);
      await kit.expectClean();
    },
  );

  scenario("rules that a person rejected are not accepted automatically after the next run", async (kit) => {
    const { job, run } = await degradedJob(kit);
    await kit.store.recordRepair(job, newRepair(run), { deliver: true }, kit.now);
    const rejected = await asAda(() => kit.store.rejectRepair(job, 1, kit.now));
    const next = await compared(kit, job, "e", 0);
    const { generation } = (await kit.store.run(next))!;
    const [task] = await kit.store.tasks(next, { limit: 1 });
    const effect = { recipe: NEW, rules: BY, reread: rereadOf(generation, task!.id) };
    const again = await kit.store.recordRepair(job, newRepair(next), { deliver: true, effect }, kit.now);
    assert.deepEqual(
      [again?.repair.state, again?.repair.decidedAt, again?.repair.decidedBy, again?.alert],
      ["rejected", rejected.decidedAt, ADA, null],
    );
    assert.deepEqual((await kit.store.job(job))?.recipe, OLD);
    await kit.expectClean();
  });

  scenario(
    "records that are read again keep their ids, so that a reader in the middle misses and repeats none",
    async (kit) => {
      const { job, run } = await degradedJob(kit);
      const before = await kit.store.results(run, { limit: 100 });
      const { generation } = (await kit.store.run(run))!;
      const [task] = await kit.store.tasks(run, { limit: 1 });
      const reread = rereadOf(generation, task!.id);
      const fewer = { ...reread, tasks: [{ taskId: task!.id, records: reread.tasks[0]!.records.slice(0, 30) }] };
      await kit.store.recordRepair(job, newRepair(run), { effect: { recipe: NEW, rules: BY, reread: fewer } }, kit.now);
      const after = await kit.store.results(run, { limit: 100 });
      assert.deepEqual(
        after.map(({ id }) => id),
        before.slice(0, 30).map(({ id }) => id),
      );
      assert.deepEqual(after[3]?.data, { url: "d", fields: { price: "€ 3" } });
      await kit.expectClean();
    },
  );

  scenario("a page that fails again replaces its copy, and one that is read at last leaves none", async (kit) => {
    const job = await makeJob(kit);
    const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: OLD.crawl }, jobId: job };
    const { created } = await kit.store.startRun(run, [newTask("a"), newTask("b")], kit.now);
    await kit.store.admitCrawls(1000, kit.now);
    const lacks: Verdict = {
      kind: "failed",
      failure: failure("field_missing", "price: required", { fields: ["price"] }),
    };
    const lacking = attempt(1, { failure_code: "extraction", failure_reason: "field_missing" });
    const next = async (keptPage: KeptPage | null, verdict: Verdict = lacks) => {
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane, 10);
      const settled = tasks.map((task) => ({
        task,
        verdict,
        attempt: verdict === lacks ? lacking : attempt(2),
        report: keptPage === null ? {} : { keptPage: { ...keptPage, hash: hashOf(`${keptPage.hash}${task.key}`) } },
      }));
      await kit.store.settle([{ hold: lane, tasks: settled }], kit.now);
      await kit.store.releaseLane(lane);
    };
    const kept = async () => (await kit.store.runPages(created.id, { limit: 10 })).map(({ hash }) => hash).toSorted();
    await next({ ...page("x"), hash: "1" });
    assert.deepEqual(await kept(), ["1a", "1b"].map(hashOf));
    const retry = () => kit.store.retryFailed(created.id, { limit: 10 }, kit.now);
    await retry();
    await kit.store.admitCrawls(1000, kit.now);
    await next({ ...page("x"), hash: "2" });
    assert.deepEqual(await kept(), ["2a", "2b"].map(hashOf));
    await retry();
    await kit.store.admitCrawls(1000, kit.now);
    await next(null, DONE);
    assert.deepEqual(await kept(), [], "its records are newer than the copy");
    const { orphaned } = await kit.store.orphanedFiles({ limit: 100 });
    assert.deepEqual(orphaned.toSorted(), ["1a", "1b", "2a", "2b"].map(hashOf));
    await kit.expectClean();
  });

  scenario("the pages of a run that was cancelled are removed bit by bit", async (kit) => {
    const job = await makeJob(kit);
    const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: OLD.crawl }, jobId: job };
    const { created } = await kit.store.startRun(run, [newTask("a"), newTask("b"), newTask("c")], kit.now);
    await kit.store.admitCrawls(1000, kit.now);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 2);
    for (const task of tasks) await kit.report(lane, [task], DONE, { keptPage: page(task.key) });
    assert.equal((await pagesOf(kit, created.id)).length, 2);
    assert.equal(await kit.store.removeExpired(100), 0, "it is not over");
    await kit.store.changeRun(created.id, "cancelled", "Run cancelled", kit.now);
    assert.deepEqual([await kit.store.removeExpired(1), await kit.store.removeExpired(10)], [1, 1]);
    assert.deepEqual(await pagesOf(kit, created.id), []);
    await kit.expectClean();
  });
}
