/** How often requests read the same rows. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { CrawlRuns } from "../../src/lanes/handlers/crawl/crawl-runs.ts";
import { showCrawl } from "../../src/orchestrator/crawls/read.ts";
import { startCrawl } from "../../src/orchestrator/crawls/start.ts";
import { ActiveRuns } from "../../src/orchestrator/live/active-runs.ts";
import { exportRun } from "../../src/orchestrator/runs/export.ts";
import { DONE, FAILED, LANE, retryAt, type Verdict } from "../contract/store/kit.ts";
import { countingStore } from "../support/counting-store.ts";
import { openJobs } from "./jobs-kit.ts";

/** A crawl of these pages, which end as told; `reads` says how often `work` calls the methods `of` the store. */
async function openCrawl(t: TestContext, pages: Record<string, (now: number) => Verdict>) {
  const { deps } = await openJobs(t);
  const urls = Object.keys(pages).map((path) => `https://a.example/${path}`);
  const { id } = await startCrawl(deps, { urls, use_sitemap: false });
  await deps.work(LANE, (key) => pages[key.slice(key.lastIndexOf("/") + 1)]!(deps.clock.now()));
  const { store, calls } = countingStore(deps.store);
  const counted = { ...deps, store };
  const reads = async (of: readonly string[], work: () => Promise<unknown>) => {
    calls.clear();
    await work();
    return of.map((name) => calls.get(name) ?? 0);
  };
  return { id, deps: counted, reads };
}

const done = () => DONE;
const failed = () => FAILED;
const retried = (now: number) => retryAt(now + 60_000);

test("the status of a crawl reads its run, counts, errors and retries once", async (t) => {
  const { id, deps, reads } = await openCrawl(t, { done, failed, retried });
  const names = ["run", "overview", "runErrors", "retryReasons"];
  assert.deepEqual(await reads(names, () => showCrawl(deps, id)), [1, 1, 1, 1]);
  const view = await showCrawl(deps, id);
  assert.deepEqual(
    [view.error_groups, view.retrying_groups].map((groups) => groups.map(({ count }) => count)),
    [[1], [1]],
  );
});

test("the live table reads the counts and errors of a crawl once", async (t) => {
  const { id, deps, reads } = await openCrawl(t, { done, failed, retried });
  const run = (await deps.store.run(id))!;
  const look = () => new ActiveRuns().look(deps, { runs: [run], ended: [] }, null);
  assert.deepEqual(await reads(["overview", "runErrors"], look), [1, 1]);
});

test("an export reads the run once, however many records there are", async (t) => {
  const results = Array.from({ length: 1200 }, (_, n) => ({ url: `https://a.example/${n}`, fields: { n } }));
  const { id, deps, reads } = await openCrawl(t, { many: () => ({ ...DONE, results }) as Verdict });
  const settings = { version: "1.0.0" };
  const exporting = { ...deps, settings, openArtifact: () => Promise.reject(new Error("there is no file")) };
  for (const format of ["jsonl", "csv"]) {
    const chunks: Uint8Array[] = [];
    const read = async () => {
      for await (const chunk of (await exportRun(exporting, id, format)).bytes) chunks.push(chunk);
    };
    assert.deepEqual(await reads(["run", "results"], read), [1, 3], format);
    const lines = Buffer.concat(chunks).toString().trim().split("\n");
    assert.equal(lines.length, format === "csv" ? 1201 : 1200);
  }
});

test("pages of a crawl share one read of its run", async (t) => {
  const { id, deps, reads } = await openCrawl(t, { done });
  const openArtifact = () => Promise.reject(new Error("there is no file"));
  const crawls = new CrawlRuns({ ...deps, reader: { keep: () => {} }, keepFixture: async () => null, openArtifact });
  const pages = () => Promise.all(Array.from({ length: 50 }, async () => (await crawls.of(id)).time.leftMs(30_000)));
  assert.deepEqual(await reads(["run", "trapState"], pages), [1, 1]);
});
