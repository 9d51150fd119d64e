import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FULL, report, until } from "../chaos/orb.ts";
import type { Hit } from "../chaos/target.ts";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, Web } from "./kit.ts";

/** What has been promised; the figures that are reported are far below it. A machine with much else to do is slower. */
const WITHIN_MS = FULL ? 1000 : 30_000;
/** Nothing more comes when nothing has for so long. */
const QUIET_MS = 2000;
/** So many in a row show how it is done. */
const IN_A_ROW = 10;

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
    const lastTogether = () => web.target.sites.map((_, site) => lastBeside(web.hitsOf(site)));
    await web.target.when(
      () => lastTogether().every((last, site) => web.hitsOf(site).length - last > IN_A_ROW),
      "both sites go on one by one",
    );
    const together = lastTogether();
    const since = Math.max(...together.map((last, site) => web.hitsOf(site)[last]?.start ?? 0));
    assert.ok(since - limited < WITHIN_MS, `the limit held after ${since - limited} ms`);

    const took: Record<string, string> = { limit: `${Math.max(0, since - limited)} ms` };
    for (const what of ["pause", "cancel"]) {
      if (what === "cancel") assert.equal((await api.post(`/jobs/runs/${id}/resume`)).status, 200);
      const seen = web.target.hits.length;
      await web.target.when(() => web.target.hits.length > seen + 10, "it goes on");
      const asked = Date.now();
      const answer = await api.post(`/jobs/runs/${id}/${what}`);
      assert.equal(answer.status, 200, answer.text);
      await until(() => Date.now() - lastOf(web) > QUIET_MS, "no more pages are asked for");
      assert.ok(web.target.hits.length < web.urls().length, "there were more");
      took[what] = `${Math.max(0, lastOf(web) - asked)} ms`;
      assert.ok(lastOf(web) - asked < WITHIN_MS, `the last request came ${took[what]} after the ${what}`);
    }
    report("the last request after", took);
    assert.deepEqual(lastTogether(), together, "never again more than one at a time");
    assert.equal((await cluster.crawler.view(id)).status, "cancelled");
    await cluster.orb.audit();
  });
});

const lastOf = (web: Web) => web.target.hits.at(-1)?.start ?? 0;

/** Where the last one stands that came while another was open; -1: none did. */
function lastBeside(hits: readonly Hit[]): number {
  return hits.findLastIndex(({ start }, n) =>
    hits.slice(Math.max(0, n - 10), n).some(({ end }) => end === null || end > start),
  );
}
