import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../chaos/orb.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { comeOverHttp } from "./kit.ts";

const kettle = (price: number, more = "") =>
  html(`<title>Kettle</title><main><h1>Kettle</h1><p>It boils water.</p><p>Price: ${price} euros</p>${more}</main>`);

test("an agent reads what a monitor found, change by change [slow]", async () => {
  await using site = await MisbehavingSite.start({ "/": kettle(20) });
  await using server = await TestServer.open();
  await using agent = await comeOverHttp(server.api.url, { modern: true });
  assert.deepEqual((await agent.ok("changes")).data["jobs"], []);
  await server.job({ name: "Other", target_url: site.url("/") } as never);
  const job = await server.job({ name: "Kettle", target_url: site.url("/"), monitor: { what: "text" } } as never);
  const run = async () => {
    const { id } = await server.run(job.id);
    await until(async () => (await server.show(id)).monitor !== null, "its pages are compared");
    return id;
  };
  await run();
  const listed = await agent.ok("changes");
  assert.deepEqual(
    (listed.data["jobs"] as { job_id: string; name: string; what: string }[]).map(({ job_id, name, what }) => [
      job_id,
      name,
      what,
    ]),
    [[job.id, "Kettle", "text"]],
  );
  assert.deepEqual((await agent.ok("changes", { job_id: job.id })).data["changes"], []);

  site.on("/", kettle(18, `<p>${"Many words about its lid. ".repeat(400)}</p>`));
  const changed = await run();
  const found = await agent.ok("changes", { job_id: job.id, run_id: changed });
  const [first] = found.data["changes"] as { number: number; change: string; url: string; summary: string }[];
  assert.deepEqual([first?.number, first?.change, first?.url], [1, "changed", site.url("/")]);
  assert.match(first?.summary ?? "", /20 → 18/);
  const whole = await agent.follow(found);
  assert.match(String(whole.data["diff"]), /^-Price: 20 euros$/m);
  assert.match(String(whole.data["diff"]), /^\+Price: 18 euros$/m);
  const short = await agent.ok("changes", { job_id: job.id, number: 1, max_chars: 2000 });
  assert.match(String(short.data["notes"]), /^diff is cut: \d+ of \d+ characters shown; raise max_chars$/);

  assert.match(await agent.refused("changes", { job_id: job.id, number: 9 }), /9/);
  const unknown = "00000000-0000-4000-8000-000000000000";
  assert.match(await agent.refused("changes", { job_id: unknown }), /changes without job_id lists/);
});
