import assert from "node:assert/strict";
import { test } from "node:test";
import { openClient } from "../../src/app/context.ts";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { held, html } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

const PAGE = html("<title>Page</title><p>A page that says enough to be one.</p>");

test(
  "a site that has used up its share of the browser's memory says so, and keeps no other site waiting [slow]",
  browserGate,
  async () => {
    await using server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "4" });
    const crawler = new Crawler(server);
    const enough = Promise.withResolvers<void>();
    await using site = await MisbehavingSite.start({ "*": held(enough.promise, PAGE) });
    await using other = await MisbehavingSite.start({ "*": PAGE });
    {
      await using client = await openClient(server.config);
      await client.store.setSite(site.name, { maxMemoryMb: 1 });
    }
    const options = { max_depth: 0, strategy: "browser", respect_robots: false };
    const id = await crawler.submit({ url: [1, 2, 3].map((n) => site.url(`/${n}`)), ...options });
    await site.when(() => site.visits.length === 1, "the first page is asked for");
    const waitingFor = async () =>
      (await server.api.get(`/jobs/runs/${id}/sites`)).json<RunSiteView[]>()[0]!.waiting_for?.reason ?? null;
    const giveUpAt = Date.now() + 240_000;
    while ((await waitingFor()) !== "memory") {
      assert.ok(Date.now() < giveUpAt, `it waits for ${await waitingFor()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const beside = await crawler.crawl({ url: other.url("/"), ...options });
    assert.equal(beside.items.length, 1);
    assert.equal(site.visits.length, 1, "and none of its own came meanwhile");
    enough.resolve();
    const { view, items } = await crawler.ended(id);
    assert.deepEqual([view.status, items.length], ["completed", 3]);
    const overlaps = site.visits.filter((visit) =>
      site.visits.some((one) => one.at < visit.at && one.endedAt! > visit.at),
    );
    assert.deepEqual(overlaps, [], "one page after the other");
    await using client = await openClient(server.config);
    assert.equal((await client.store.site(site.name))!.waiting, null);
  },
);
