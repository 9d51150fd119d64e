import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { PageComparer } from "../../src/domain/monitor/compare.ts";
import { MONITOR_DEFAULTS, type MonitorOptions } from "../../src/domain/monitor/options.ts";
import { NO_PROFILE } from "../../src/domain/monitor/volatile/profile.ts";
import { newJob } from "../contract/store/jobs.ts";
import { DONE, Kit, newTask } from "../contract/store/kit.ts";
import { Child, sqliteHarness } from "./bench.ts";

const PAGES = 130;
const monitor: MonitorOptions = { ...MONITOR_DEFAULTS, what: "text" };
const comparer = new PageComparer(monitor);

/** Statements of the chunks and of the end, each with the occurrence that the process is killed at. */
const KILLS = [
  ["INSERT INTO monitors", 1],
  ["INSERT INTO monitor_changes", 1],
  ["INSERT INTO monitor_changes", 57],
  ["INSERT INTO monitor_files", 100],
  ["INSERT INTO monitor_states", 3],
  ["DELETE FROM monitor_pages", 99],
  // The first chunk is committed.
  ["SELECT p.n, p.url", 2],
  ["INSERT INTO monitor_changes", 20],
  ["SELECT p.n, p.url", 2],
  ["UPDATE runs SET monitor_due = 0", 1],
  ["INSERT INTO events", 1],
  ["INSERT INTO alerts", 1],
] as const;

test("processes that are killed while they compare pages lose no change and write none twice [slow]", async () => {
  const harness = await sqliteHarness();
  try {
    const kit = new Kit(await harness.open(), harness);
    const files = join(dirname(harness.path), "files");
    const artifacts = createArtifactStore({ dir: files, clock: systemClock });
    const { id: job } = (await kit.store.createJob(newJob("pages", { kind: "crawl" }), kit.now)).created;

    /** A run that found this text on each page. */
    const endedRun = async (text: (page: number) => string): Promise<string> => {
      kit.pass(1000);
      const tasks = Array.from({ length: PAGES }, (_, page) => newTask(`p${page}`));
      const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: {}, monitor }, jobId: job };
      const { created } = await kit.store.startRun(run, tasks, kit.now);
      await kit.store.admitCrawls(1000, kit.now);
      const lane = await kit.take("A");
      for (let page = 0; page < PAGES; page += 1) {
        const { tasks: claimed } = await kit.claim(lane, 1);
        const { key } = claimed[0]!;
        const content = Buffer.from(text(Number(key.slice(1))));
        const writer = artifacts.writer();
        await writer.write(content);
        const { hash, size } = await writer.finish();
        const digest = comparer.digestOf(content, NO_PROFILE, null);
        const found = { hash, size, isSealed: false, digest };
        const plain = { key, url: `https://a.example/${key}`, rules: "r", again: null, scopeHash: null };
        await kit.report(lane, claimed, DONE, { monitored: { ...plain, content: found, isRedirected: false } });
      }
      await kit.store.releaseLane(lane);
      return created.id;
    };
    const child = (...where: string[]) => new Child("compare-pages", harness.path, files, ...where);
    const compared = async () => {
      await using process = child();
      assert.equal(await process.line(), "ready");
      process.say("go");
      assert.equal(await process.line(), "done");
      await process.end();
    };

    await endedRun((page) => `Page ${page}\nThe price is ten.`);
    await compared();
    assert.equal((await kit.store.monitorChanges(job, { limit: 1000 })).length, 0);
    // Every tenth page stays as it is.
    const isSame = (page: number) => page % 10 === 0;
    const runId = await endedRun((page) => `Page ${page}\nThe price is ${isSame(page) ? "ten" : "eleven"}.`);
    for (const [statement, nth] of KILLS) {
      await using process = child(statement, String(nth));
      assert.equal(await process.line(), "ready");
      process.say("go");
      assert.equal(await process.line(), "stopped", statement);
      await process.kill();
      const waiting = await kit.store.waitingPages(runId, 1000);
      const found = await kit.store.monitorChanges(job, { limit: 1000 });
      const unread = waiting.filter(({ url }) => !isSame(Number(url.split("/p")[1])));
      assert.equal(found.length + unread.length, PAGES * 0.9, `${statement}: a page waits, or its change is written`);
      assert.equal((await kit.store.alerts({ limit: 10 })).length, 0, statement);
      await kit.expectClean();
    }
    await compared();
    await compared();
    const changes = await kit.store.monitorChanges(job, { limit: 1000 });
    assert.equal(changes.length, PAGES * 0.9);
    assert.equal(new Set(changes.map(({ url }) => url)).size, PAGES * 0.9, "each page once");
    assert.deepEqual(
      changes.map(({ number }) => number).toSorted((a, b) => a - b),
      Array.from({ length: PAGES * 0.9 }, (_, index) => index + 1),
      "the numbers have no gap",
    );
    const types = (await kit.store.events(runId, { limit: 100 })).map(({ type }) => type);
    assert.equal(types.filter((type) => type === "monitor.changed").length, 1);
    assert.equal((await kit.store.alerts({ limit: 10 })).length, 1);
    assert.deepEqual((await kit.store.run(runId))?.facts.monitor, { new: 0, changed: PAGES * 0.9, removed: 0 });
    for (const { files: stored } of changes.slice(0, 5))
      for (const file of Object.values(stored)) assert.ok(await artifacts.has(file.hash), "its files are there");
    await kit.expectClean();
  } finally {
    await harness.close();
  }
});
