import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { startDemoSite } from "../../src/demo/site.ts";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { TestServer } from "./kit.ts";

interface Repair {
  state: string;
  run_id: string;
  reason: string | null;
  fields: { field: string | null; new_rule: unknown; reason: string | null }[];
}

async function compared(server: TestServer, jobId: string): Promise<RunView> {
  const run = await server.run(jobId);
  await until(async () => {
    const { runs } = (await server.api.get(`/jobs/${jobId}/health`)).json<{ runs: { run_id: string }[] }>();
    return runs[0]?.run_id === run.id;
  }, "its records are compared");
  return (await server.api.get(`/jobs/runs/${run.id}`)).json<RunView>();
}

async function considered(server: TestServer, jobId: string, runId: string): Promise<Repair> {
  const read = async () => {
    const answer = await server.api.get(`/jobs/${jobId}/repair`);
    return answer.status === 200 ? answer.json<Repair>() : null;
  };
  await until(async () => (await read())?.run_id === runId, "a repair was considered");
  return (await read())!;
}

const recordsOf = async (server: TestServer, runId: string) =>
  (await server.api.get(`/jobs/runs/${runId}/results?limit=500`))
    .json<{ data: unknown }[]>()
    .map(({ data }) => JSON.stringify(data))
    .toSorted();

test("when the shop changes its layout, a crawl of its books repairs itself: the same records as before [slow]", async () => {
  await using shop = await startDemoSite(systemClock, { pageMs: 0 });
  await using server = await TestServer.open();
  const fields = {
    title: "h1",
    author: ".author",
    price: "article.book p.price",
    pages: { css: ".pages", type: "integer" },
  };
  const crawl = { fields, read: ["/book/**"], follow: ["/category/**", "/book/**"], max_pages: 60, max_depth: 3 };
  const job = await server.job({ kind: "crawl", target_url: `${shop.origin}/`, crawl, auto_repair: true } as never);
  const good: RunView[] = [];
  for (let run = 0; run < 3; run += 1) good.push(await compared(server, job.id));
  await fetch(`${shop.origin}/layout`, { method: "POST", redirect: "manual" });
  const broken = await compared(server, job.id);
  const repair = await considered(server, job.id, broken.id);
  assert.equal(repair.state, "accepted", JSON.stringify(repair, null, 1));
  assert.deepEqual(repair.fields.map(({ field }) => field).toSorted(), ["author", "pages", "price"]);
  assert.deepEqual(await recordsOf(server, broken.id), await recordsOf(server, good[0]!.id));
});

test("when the shop changes its layout, the rules of a list of its books are repaired, too [slow]", async () => {
  await using shop = await startDemoSite(systemClock, { pageMs: 0 });
  await using server = await TestServer.open();
  const rules = { items: ".book-card", fields: { title: "h3 a", author: "p", price: ".price" } };
  const crawl = { ...rules, read: ["/category/**"], follow: ["/category/**"], max_pages: 40, max_depth: 3 };
  const job = await server.job({ kind: "crawl", target_url: `${shop.origin}/`, crawl, auto_repair: true } as never);
  const good: RunView[] = [];
  for (let run = 0; run < 3; run += 1) good.push(await compared(server, job.id));
  await fetch(`${shop.origin}/layout`, { method: "POST", redirect: "manual" });
  const broken = await compared(server, job.id);
  const repair = await considered(server, job.id, broken.id);
  assert.equal(repair.state, "accepted", JSON.stringify(repair, null, 1));
  assert.deepEqual(await recordsOf(server, broken.id), await recordsOf(server, good[0]!.id));
});
