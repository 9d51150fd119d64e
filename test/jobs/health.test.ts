import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { EventView, RunView } from "../../src/orchestrator/runs/view.ts";
import { until } from "../chaos/orb.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const RULES = { items: ".book", fields: { title: ".title", price: ".price", isbn: ".isbn" } };

/** A shop's list of forty books; the redesign has moved the prices. */
function list(priceClass: string): string {
  const books = Array.from({ length: 40 }, (_, n) => {
    return `<div class="book"><b class="title">Book ${n}</b><i class="${priceClass}">€ ${n}.90</i></div>`;
  });
  return `<title>Books</title>${books.join("")}`;
}

interface Health {
  baseline: { runs: number; needed: number };
  runs: { run_id: string; degraded: unknown[] | null; in_baseline: boolean }[];
  fields: { name: string; hint: string | null; values: { verdict: string; coverage: number; examples: unknown[] }[] }[];
}

test("a redesign that moves the prices is reported by the run that meets it, and its schedule is paused", async () => {
  let page = list("price");
  await using site = await MisbehavingSite.start({
    "/": (visit, response, itself) => html(page)(visit, response, itself),
  });
  await using server = await TestServer.open();
  const input = { target_url: site.url("/"), ...RULES, schedule: "0 6 1 1 *", on_degraded: "pause_schedule" };
  const job = await server.job(input as never);
  const health = async () => (await server.api.get(`/jobs/${job.id}/health`)).json<Health>();
  const compared = async () => {
    const run = await server.run(job.id);
    await server.ended(run.id);
    await until(async () => (await health()).runs[0]?.run_id === run.id, "its records are compared");
    return (await server.api.get(`/jobs/runs/${run.id}`)).json<RunView>();
  };
  for (let run = 0; run < 3; run += 1) assert.equal((await compared()).degraded, null);
  const before = await health();
  assert.deepEqual(before.baseline, { runs: 3, needed: 3 });
  assert.deepEqual(
    before.fields.map(({ name, hint, values }) => [name, hint, values[0]?.coverage]),
    [
      ["title", null, 1],
      ["price", null, 1],
      ["isbn", "never_filled", 0],
    ],
  );

  page = list("amount");
  const broken = await compared();
  assert.deepEqual(
    [broken.status, broken.degraded],
    ["completed", [{ field: "price", metric: "coverage", before: 1, now: 0, pages: [site.url("/")] }]],
  );
  const events = (await server.api.get(`/jobs/runs/${broken.id}/events`)).json<EventView[]>();
  assert.deepEqual(
    events.filter(({ level }) => level === "warn").map(({ type }) => type),
    ["extraction.degraded", "schedule.paused"],
  );
  assert.equal((await server.api.get(`/jobs/${job.id}`)).json<JobView>().next_run_at, null);
  const alerts = (await server.api.get("/alerts?kind=extraction_degraded")).json<{ message: string }[]>();
  assert.deepEqual(
    alerts.map(({ message }) => message),
    [`Records degraded: ${site.url("/")}: price: filled in 0 % (before: 100 %)`],
  );
  assert.match(await (await fetch(`${server.api.url}/metrics`)).text(), /^orb_degraded_runs_total 1$/m);
  const [listed] = (await server.api.get(`/runs?job_id=${job.id}`)).json<RunView[]>();
  assert.equal(listed?.degraded?.length, 1);

  const accepted = (await server.api.post(`/jobs/${job.id}/health/accept`)).json<Health>();
  assert.deepEqual(accepted.baseline, { runs: 1, needed: 3 });
  assert.equal((await compared()).degraded, null, "what was accepted is the usual from now on");
  assert.equal((await server.api.get("/jobs/00000000-0000-4000-8000-000000000000/health")).status, 404);
});

test("a job whose records have to be good has no completed run with degraded ones: it fails, and its records stay", async () => {
  let page = list("price");
  await using site = await MisbehavingSite.start({
    "/": (visit, response, itself) => html(page)(visit, response, itself),
  });
  await using server = await TestServer.open();
  const job = await server.job({ target_url: site.url("/"), ...RULES, on_degraded: "fail" } as never);
  const ended = async () => server.ended((await server.run(job.id)).id);
  // Compared at the end: no wait for that.
  for (let run = 0; run < 3; run += 1) assert.equal((await ended()).status, "completed");
  page = list("amount");
  const failed = await ended();
  assert.deepEqual(
    [failed.status, failed.failure_reason, failed.error_message, failed.degraded?.[0]?.field],
    ["failed", "records_degraded", "its records are degraded: price: filled in 0 % (before: 100 %)", "price"],
  );
  const events = (await server.api.get(`/jobs/runs/${failed.id}/events`)).json<EventView[]>();
  // Right after its end, a repair may have been proposed.
  const ofRun = events.filter(({ type }) => !type.startsWith("repair."));
  assert.deepEqual(
    ofRun.slice(-3).map(({ type }) => type),
    ["run.held", "extraction.degraded", "run.failed"],
  );
  const results = (await server.api.get(`/jobs/runs/${failed.id}/results`)).json<unknown[]>();
  assert.equal(results.length, 40);
  const examples = (await server.api.get(`/jobs/${job.id}/health?field=price`)).json<Health>().fields[0]?.values;
  assert.deepEqual(
    [examples?.[0]?.examples, examples?.[1]?.examples[0]],
    [[{ url: site.url("/"), value: null }], { url: site.url("/"), value: "€ 0.90" }],
  );
  await until(async () => {
    const alerts = (await server.api.get("/alerts")).json<{ kind: string }[]>();
    const ofRuns = alerts.filter(({ kind }) => kind !== "repair_proposed");
    return ofRuns.length === 1 && ofRuns[0]?.kind === "extraction_degraded";
  }, "one alert for it");
  page = list("price");
  assert.equal((await ended()).status, "completed");
});

test("a wrong value names its field, and so does one for a workflow, which has no records of its own", async () => {
  await using server = await TestServer.open({}, { worker: false });
  const workflow = { definition: { name: "w", steps: [{ name: "a", task_type: "wait", params: { seconds: 1 } }] } };
  for (const body of [
    { target_url: "https://a.example/", on_degraded: "ignore" },
    { kind: "workflow", workflow, on_degraded: "alert" },
  ]) {
    const refused = await server.api.post("/jobs", body);
    assert.deepEqual([refused.status, JSON.stringify(refused.json()).includes("on_degraded")], [422, true]);
  }
  const saved = await server.job({ kind: "workflow", workflow } as never);
  const renamed = await server.api.call("PATCH", `/jobs/${saved.id}`, { name: "other" });
  assert.equal(renamed.status, 200);
});
