import assert from "node:assert/strict";
import { asCaller } from "../../../src/domain/access/caller.ts";
import { KEPT_VERSIONS } from "../../../src/domain/run/job-author.ts";
import { newJob } from "./jobs.ts";
import { type Kit, NOBODY, refused, type Scenario } from "./kit.ts";

const make = async (kit: Kit, name: string) =>
  (await kit.store.createJob(newJob(name), kit.now, undefined, { author: "cli" })).created;

const infos = async (kit: Kit, id: string) =>
  (await kit.store.jobVersions(id, { limit: 1000 })).map(({ version, author }) => `${version} ${author}`);

export function jobVersionScenarios(scenario: Scenario): void {
  scenario(
    "a job begins with a version, and every change of its definition is another, as it was then",
    async (kit) => {
      const { id } = await make(kit, "a");
      kit.pass(1000);
      const change = { recipe: { fields: { title: "h2" } }, keepRuns: 3, fixtures: 2, autoRepair: true, tags: ["x"] };
      await kit.store.updateJob(id, change, kit.now, undefined, { author: "dashboard" });
      kit.pass(1000);
      await kit.store.updateJob(id, { onDegraded: "fail" }, kit.now);
      assert.deepEqual(await infos(kit, id), ["3 api", "2 dashboard", "1 cli"]);
      const other = await kit.open();
      const [first, second, third] = [1, 2, 3].map((version) => other.jobVersion(id, version));
      assert.deepEqual((await first)?.definition.recipe, newJob("a").recipe);
      const { definition, madeAt, restored } = (await second)!;
      assert.deepEqual([madeAt, restored], [kit.now - 1000, null]);
      const { nextAt: _next, nextOccurrenceAt: _occurrence, ...plain } = newJob("a");
      assert.deepEqual(definition, { ...plain, ...change, keepDays: null, onDegraded: null });
      assert.equal((await third)?.definition.onDegraded, "fail");
      assert.deepEqual(
        (await kit.store.jobVersions(id, { before: 3, limit: 1 })).map(({ version }) => version),
        [2],
      );
    },
  );

  scenario("a version names the key, person or token that made it, and null if nobody is known", async (kit) => {
    const as = <T>(kind: "key" | "token", name: string, work: () => Promise<T>) =>
      asCaller({ actor: { kind, id: kind, name }, limits: null, ip: null, requestId: null }, work);
    const { created } = await as("key", "ci", () => kit.store.createJob(newJob("a"), kit.now));
    const change = (name: string, restored?: number) =>
      kit.store.updateJob(created.id, { name }, kit.now, undefined, {
        author: "cli",
        ...(restored === undefined ? {} : { restored }),
      });
    await as("token", "APP_API_TOKEN", () => change("b"));
    await change("c");
    await as("key", "ci", () => change("a", 1));
    const versions = await (await kit.open()).jobVersions(created.id, { limit: 10 });
    const ci = { kind: "key", id: "key", name: "ci" };
    assert.deepEqual(
      versions.map(({ madeBy }) => madeBy),
      [ci, null, { kind: "token", id: "token", name: "APP_API_TOKEN" }, ci],
    );
    assert.deepEqual((await kit.store.jobVersion(created.id, 4))?.madeBy, ci);
  });

  scenario("what is no definition makes no version: saving the same, a paused schedule, its next time", async (kit) => {
    const { id } = await make(kit, "a");
    await kit.store.updateJob(id, {}, kit.now);
    await kit.store.updateJob(id, { name: "a" }, kit.now);
    await kit.store.updateJob(id, { schedulePausedAt: kit.now }, kit.now);
    await kit.store.updateJob(id, { nextAt: kit.now + 1, nextOccurrenceAt: kit.now + 1 }, kit.now);
    assert.deepEqual(await infos(kit, id), ["1 cli"]);
    await kit.store.updateJob(id, { name: null }, kit.now);
    await kit.store.updateJob(id, { name: "a" }, kit.now, undefined, { author: "mcp", restored: 1 });
    assert.deepEqual(await infos(kit, id), ["3 mcp", "2 api", "1 cli"]);
    assert.equal((await kit.store.jobVersion(id, 3))?.restored, 1);
  });

  scenario("a refused change leaves no version, and a repeated creation makes none", async (kit) => {
    const once = { key: "k", fingerprint: "f" };
    const { created } = await kit.store.createJob(newJob("a"), kit.now, once);
    await kit.store.createJob(newJob("a"), kit.now, once);
    await refused("version_conflict", kit.store.updateJob(created.id, { name: "b" }, kit.now, "other"));
    assert.deepEqual(await infos(kit, created.id), ["1 api"]);
    assert.equal((await kit.store.jobs({ limit: 10 })).length, 1);
  });

  scenario("the newest hundred stay, with their numbers, and all go with the job", async (kit) => {
    const [{ id }, other] = [await make(kit, "a"), await make(kit, "b")];
    for (let n = 2; n <= KEPT_VERSIONS + 5; n += 1) await kit.store.updateJob(id, { name: `n${n}` }, kit.now);
    const kept = await kit.store.jobVersions(id, { limit: 1000 });
    assert.deepEqual([kept.length, kept[0]?.version, kept.at(-1)?.version], [KEPT_VERSIONS, KEPT_VERSIONS + 5, 6]);
    assert.equal(await kit.store.jobVersion(id, 5), null);
    assert.deepEqual(await infos(kit, other.id), ["1 cli"]);
    await kit.store.deleteJob(id, kit.now);
    assert.deepEqual([await infos(kit, id), await kit.store.jobVersion(id, 6)], [[], null]);
    assert.deepEqual(await infos(kit, NOBODY), []);
    await kit.expectClean();
  });
}
