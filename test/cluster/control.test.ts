import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { report, until } from "../chaos/orb.ts";
import type { Hit } from "../chaos/target.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, Web } from "./kit.ts";

/** What has been promised; the figures that are reported are far below it. */
const WITHIN_MS = 1000;

describe("what an API decides about lanes that workers own", servicesGate, () => {
  test("a limit, a pause and a cancel are followed within a second", async () => {
    await using web = await Web.start({ sites: 2, pages: 2000, latencyMs: 20 });
    await using cluster = await Cluster.start({ workers: 2, env: { APP_MAX_PER_HOST: "4" } });
    const { api } = cluster.api;
    const id = await cluster.crawl(web);
    await web.target.when(() => web.target.hits.length > 40, "work is under way");

    const limited = Date.now();
    for (const site of web.target.sites)
      assert.equal((await api.call("PATCH", `/sites/${encodeURIComponent(site)}`, { max_concurrency: 1 })).status, 200);
    const after = (hits: readonly Hit[]) => hits.filter(({ start }) => start > limited + WITHIN_MS);
    await web.target.when(
      () => web.target.sites.every((_, site) => after(web.hitsOf(site)).length >= 10),
      "both sites go on one by one",
    );
    for (const [site, name] of web.target.sites.entries()) assertOneByOne(after(web.hitsOf(site)), name);

    const took: Record<string, string> = {};
    for (const what of ["pause", "cancel"]) {
      if (what === "cancel") assert.equal((await api.post(`/jobs/runs/${id}/resume`)).status, 200);
      const seen = web.target.hits.length;
      await web.target.when(() => web.target.hits.length > seen + 10, "it goes on");
      const asked = Date.now();
      const answer = await api.post(`/jobs/runs/${id}/${what}`);
      assert.equal(answer.status, 200, answer.text);
      await until(() => Date.now() - lastOf(web) > 2 * WITHIN_MS, "no more pages are asked for");
      took[what] = `${Math.max(0, lastOf(web) - asked)} ms`;
      assert.ok(lastOf(web) - asked < WITHIN_MS, `the last request came ${took[what]} after the ${what}`);
    }
    report("the last request after", took);
    assert.equal((await cluster.crawler.view(id)).status, "cancelled");
    await cluster.orb.audit();
  });
});

const lastOf = (web: Web) => web.target.hits.at(-1)?.start ?? 0;

function assertOneByOne(hits: readonly Hit[], site: string): void {
  for (const [n, hit] of hits.entries()) {
    const before = hits[n - 1];
    assert.ok(before === undefined || (before.end !== null && before.end <= hit.start), `${site} is asked one by one`);
  }
}
