import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../chaos/orb.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { Installation } from "./installation.ts";

const list = (name: string) =>
  `<title>Books</title>${Array.from({ length: 30 }, (_, n) => `<p class="book"><i class="${name}">€ ${n}</i></p>`).join("")}`;

test("orb jobs health shows which field got worse, in a table and as JSON, and accepts it [slow]", async () => {
  let page = list("price");
  await using site = await MisbehavingSite.start({ "/": (visit, response, all) => html(page)(visit, response, all) });
  await using server = await TestServer.open();
  await using orb = new Installation();
  const at = ["--url", server.api.url];
  const create = ["jobs", "create", "--target-url", site.url("/"), "--items", ".book", "--field", "price=.price"];
  const job = await orb.json<{ id: string; on_degraded: string }>(...create, "--on-degraded", "pause_schedule", ...at);
  assert.equal(job.on_degraded, "pause_schedule");
  const health = (...more: string[]) => orb.run(["jobs", "health", job.id, ...more, ...at]);
  assert.match((await health()).stdout, /^no run with records yet/);
  for (let run = 0; run < 4; run += 1) {
    if (run === 3) page = list("amount");
    const { id } = await server.run(job.id);
    const known = async () =>
      (await server.api.get(`/jobs/${job.id}/health`)).json<{ runs: { run_id: string }[] }>().runs[0]?.run_id === id;
    await until(known, "its records are compared");
  }
  const { stdout } = await health();
  assert.match(stdout, /^price +degraded +100 % +0 % ! +100 % +100 % +100 %$/m);
  assert.match(stdout, /^! price: filled in 0 % \(before: 100 %\)$/m);
  assert.ok(stdout.includes(`accept it: orb jobs health ${job.id} --accept`), stdout);
  const json = JSON.parse((await orb.run(["jobs", "health", job.id, "--json", "--runs", "1", ...at])).stdout) as {
    runs: unknown[];
  };
  assert.equal(json.runs.length, 1);
  assert.match((await health("--accept")).stdout, /^baseline +1 run so far; runs are compared from 3 on$/m);
});
