import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { RunSiteView } from "../../src/orchestrator/runs/sites.ts";
import { MisbehavingSite, type Visit } from "../support/misbehaving-site.ts";
import { html, slow } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const PAGES = 1000;
/** Within this time a change has to be seen by the target. */
const SOON_MS = 1000;
/** Requests are timed where they arrive: the way there may take one longer than the one before. */
const JITTER_MS = 60;

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    assert.ok(Date.now() < giveUpAt, `${what} does not come true`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("the limits of a site, changed while a crawl is at work there", () => {
  let server: TestServer;
  let crawler: Crawler;
  let site: MisbehavingSite;
  let run: string;

  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
    site = await MisbehavingSite.start();
    // The first ones are not answered before there are three at once, however slow the machine is.
    const together = site.when(() => site.open > 2, "there are three at once");
    const answer = slow(120, html("<title>Page</title><p>A page like others.</p>"));
    site.on("*", async (...visit) => {
      await together;
      await answer(...visit);
    });
    const url = Array.from({ length: PAGES }, (_, n) => site.url(`/${n}`));
    run = await crawler.submit({ url, max_depth: 0, max_pages: PAGES, respect_robots: false });
    await came(10);
  });
  after(async () => {
    await server.api.post(`/jobs/runs/${run}/cancel`);
    await crawler.ended(run);
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** So many requests more than there were. */
  async function came(more: number): Promise<void> {
    const wanted = site.visits.length + more;
    await site.when(() => site.visits.length >= wanted, `${more} more come`);
  }

  /**
   * Changes the limits; what the target sees from a second later on, so many requests of it. What was sent before that
   * may be read late by a process that stood still.
   */
  async function change(limits: object, requests: number): Promise<Visit[]> {
    const answer = await server.api.call("PATCH", `/sites/${encodeURIComponent(site.name)}`, limits);
    assert.equal(answer.status, 200, answer.text);
    await new Promise((resolve) => setTimeout(resolve, SOON_MS));
    if (requests > 0) await came(1);
    const from = site.visits.length;
    const seen = () => site.visits.slice(from);
    await site.when(() => seen().length >= requests, `${requests} come after the change`);
    return seen();
  }

  const waitingFor = async () => {
    const [view] = (await server.api.get(`/jobs/runs/${run}/sites`)).json<RunSiteView[]>();
    return view!.waiting_for;
  };
  const waitsFor = (reason: string) =>
    until(`waiting for ${reason}`, async () => {
      const waiting = await waitingFor();
      return waiting?.reason === reason ? waiting : null;
    });
  /** How many were under way at the target when this one came. */
  const beside = (visit: Visit) =>
    site.visits.filter(({ at, endedAt }) => at <= visit.at && (endedAt === null || endedAt > visit.at)).length;
  /** The longest time in which so many came: a process that stands still notes the first of some too late, not of all. */
  const spanOf = (visits: readonly Visit[], count: number) =>
    Math.max(...visits.slice(count - 1).map(({ at }, n) => at - visits[n]!.at));

  test("fewer at once", async () => {
    assert.ok(Math.max(...site.visits.map(beside)) > 2, "there were more before");
    const seen = await change({ max_concurrency: 2 }, 20);
    assert.ok(Math.max(...seen.map(beside)) <= 2);
  });

  test("a rate, with a burst and without [slow]", async () => {
    const seen = await change({ max_concurrency: 10, requests_per_second: 5 }, 14);
    assert.ok(spanOf(seen, 8) >= 7 * 200 - JITTER_MS, `${spanOf(seen, 8)} ms for 8`);
    const waiting = await waitsFor("rate");
    assert.equal(waiting.until, null, "a wait of less than a quarter of a second is not worth a time");
  });

  test("a pause between two requests [slow]", async () => {
    const seen = await change({ requests_per_second: null, min_delay_ms: 300 }, 12);
    assert.ok(spanOf(seen, 6) >= 5 * 300 - JITTER_MS, `${spanOf(seen, 6)} ms for 6`);
  });

  test("a long pause is told with its end, and is over at once when it is lifted", async () => {
    await change({ min_delay_ms: 60_000 }, 0);
    const end = await until("the end of the pause is told", async () => {
      const told = Date.parse((await waitsFor("min_delay")).until ?? "");
      return told > Date.now() + 5000 ? told : null;
    });
    assert.ok(end <= Date.now() + 60_000);
    await change({ min_delay_ms: null }, 5);
    await until("nothing is said of it any more", async () => ((await waitingFor())?.until ? null : true));
  });

  test("nothing comes while the site is paused, and it goes on when it is resumed [slow]", async () => {
    await server.api.post(`/sites/${encodeURIComponent(site.name)}/pause`);
    assert.equal((await waitsFor("site_paused")).until, null);
    await new Promise((resolve) => setTimeout(resolve, SOON_MS));
    await site.when(() => site.open === 0, "nothing is under way");
    const from = site.visits.length;
    await new Promise((resolve) => setTimeout(resolve, 2 * SOON_MS));
    assert.deepEqual(
      site.visits.slice(from).map(({ path }) => path),
      [],
    );
    await server.api.post(`/sites/${encodeURIComponent(site.name)}/resume`);
    await came(10);
  });
});
