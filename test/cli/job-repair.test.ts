import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../chaos/orb.ts";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { Installation } from "./installation.ts";

const list = (name: string) =>
  `<title>Books</title>${Array.from({ length: 30 }, (_, n) => `<p class="book"><b>Book ${n}.</b><i class="${name}">€ ${n}.90</i></p>`).join("")}`;

test("orb jobs repair shows the proposal, accepts it as a version, and orb jobs restore undoes it [slow]", async () => {
  let page = list("price");
  await using site = await MisbehavingSite.start({ "/": (visit, response, all) => html(page)(visit, response, all) });
  await using server = await TestServer.open();
  await using orb = new Installation();
  const at = ["--url", server.api.url];
  const create = ["jobs", "create", "--target-url", site.url("/"), "--items", ".book"];
  const { id } = await orb.json<{ id: string }>(...create, "--field", "title=b", "--field", "price=.price", ...at);
  const jobs = (...args: string[]) => orb.run(["jobs", ...args, ...at]);
  const early = await jobs("repair", id);
  assert.notEqual(early.code, 0);
  assert.match(early.stderr, /no run of the job has been compared yet/);
  for (let run = 0; run < 4; run += 1) {
    if (run === 3) page = list("amount");
    const { id: runId } = await server.run(id);
    const known = async () =>
      (await server.api.get(`/jobs/${id}/health`)).json<{ runs: { run_id: string }[] }>().runs[0]?.run_id === runId;
    await until(known, "its records are compared");
  }
  const shown = await jobs("repair", id);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^repair +open$/m);
  assert.match(shown.stdout, /^field +price$/m);
  assert.match(shown.stdout, /^old rule +.*\.price/m);
  assert.match(shown.stdout, /^new rule +.*amount/m);
  assert.match(shown.stdout, /€ 0\.90 +– +€ 0\.90$/m);
  assert.ok(shown.stdout.includes(`orb jobs repair ${id} --accept`));
  const both = await jobs("repair", id, "--accept", "--reject");
  assert.notEqual(both.code, 0);
  const alone = await jobs("repair", id, "--reread");
  assert.notEqual(alone.code, 0);
  assert.match(alone.stderr, /--reread needs --accept/);
  const { run_id: run } = (await server.api.get(`/jobs/${id}/repair`)).json<{ run_id: string }>();
  assert.match((await jobs("repair", id, "--accept", "--reread")).stdout, /^repair +accepted$/m);
  const records = (await server.api.get(`/jobs/runs/${run}/results?limit=100`)).json<{ data: { price: string } }[]>();
  assert.deepEqual(
    records.map(({ data }) => data.price),
    Array.from({ length: 30 }, (_, n) => `€ ${n}.90`),
  );

  assert.match((await jobs("versions", id)).stdout, /^ *2 +\S.* local +repair *$[\s\S]*^ *1 +\S.* local +cli *$/m);
  assert.match((await jobs("versions", id, "2")).stdout, /^fields\.price\S* +.*price +.*amount/m);
  const restored = await jobs("restore", id, "1");
  assert.match(restored.stdout, /^version +3$[\s\S]*^by +local$\s^with +cli$[\s\S]*^restores +version 1$/m);
  const missing = await jobs("versions", id, "9");
  assert.notEqual(missing.code, 0);
  assert.match(missing.stderr, /no version 9/);
});
