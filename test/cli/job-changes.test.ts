import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../chaos/orb.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { Installation } from "./installation.ts";

const page = (price: string) =>
  html(`<title>Kettle</title><p>Price: ${price}</p><p class="ad">\u001b[31mred</p><p>${price}1 views</p>`);

test("orb jobs changes lists what changed, shows one difference, and says why there is none [slow]", async () => {
  await using site = await MisbehavingSite.start({ "/": page("20") });
  await using server = await TestServer.open();
  await using orb = new Installation();
  const at = ["--url", server.api.url];
  const { id } = await orb.json<{ id: string }>("jobs", "create", "--target-url", site.url("/"), ...at);
  const changes = (...more: string[]) => orb.run(["jobs", "changes", id, ...more, ...at]);
  assert.match((await changes()).stdout, /^the job has no monitor: orb jobs update .* --monitor text$/m);
  assert.match((await changes("--ignored")).stdout, /^the job has no monitor/m);
  const update = ["jobs", "update", id, "--monitor", "text", "--monitor-ignore", ".none", ...at];
  const { monitor } = await orb.json<{ monitor: { what: string; ignore: string[] } }>(...update);
  assert.deepEqual([monitor.what, monitor.ignore], ["text", [".none"]]);
  const more = await orb.json<{ monitor: object }>("jobs", "update", id, "--monitor-watch", "aside > p", ...at);
  assert.deepEqual(more.monitor, { ...monitor, watch: ["aside > p"] }, "all else stays as it is");
  assert.match((await changes()).stdout, /^no changes yet/);
  assert.match((await changes("--ignored")).stdout, /^no place of a page is left out so far/m);
  assert.match((await changes("1", "--ignored")).stderr, /--ignored: cannot be combined/);
  for (const price of ["20", "18"]) {
    site.on("/", page(price));
    const run = await server.run(id);
    await until(async () => (await server.show(run.id)).monitor !== null, "its pages are compared");
  }
  assert.match((await changes()).stdout, /^ *1 +.*changed +.*20 → 18$/m);
  const { stdout } = await changes("1");
  assert.match(stdout, /^-Price: 20\n\+Price: 18$/m);
  assert.match(stdout, /^1 place ignored as noise:\n {2}date, counter or id: 201 views → 181 views$/m);
  assert.ok(!stdout.includes("\u001b[31m"), "a page cannot colour the terminal");
  assert.equal(JSON.parse((await changes("--json")).stdout).length, 1);
  assert.deepEqual(JSON.parse((await changes("--change", "removed", "--json")).stdout), []);
});
