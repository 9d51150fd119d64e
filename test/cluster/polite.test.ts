import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { servicesGate } from "../support/services-kit.ts";
import { Cluster, Web } from "./kit.ts";

const DELAY_MS = 1500;
const PAGES = 6;

test(
  "sites that are asked slowly keep their distance over all workers, and cost no turn for each page",
  servicesGate,
  async () => {
    await using cluster = await Cluster.start({
      workers: 2,
      env: { APP_MIN_HOST_DELAY_MS: String(DELAY_MS), APP_LEASE_TTL_SECONDS: "300" },
    });
    await using web = await Web.start({ sites: 2, pages: PAGES });
    const begun = Date.now();
    await cluster.assertWhole(web, await cluster.crawler.ended(await cluster.crawl(web)));
    for (const site of web.target.sites) {
      const starts = web.target.hits.filter((hit) => hit.site === site).map(({ start }) => start);
      // A busy machine sees any of them late, but none of them early.
      for (const [index, start] of starts.entries())
        assert.ok(start - begun >= index * (DELAY_MS - 10), `${begun}: ${starts.join(" ")}`);
    }
    const admin = new pg.Client({ connectionString: cluster.postgres.url });
    await admin.connect();
    const { rows } = await admin.query<{ turns: string }>("SELECT sum(epoch) AS turns FROM orbweaver.lanes");
    await admin.end();
    assert.ok(Number(rows[0]?.turns) < 4 * PAGES, `lanes were taken ${rows[0]?.turns} times`);
  },
);
