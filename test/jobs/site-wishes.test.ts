import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openClient } from "../../src/app/context.ts";
import type { SiteLimits } from "../../src/store/records/site-records.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, robots } from "../support/misbehaviours.ts";
import { Crawler } from "./crawler.ts";
import { evidenceOf, TestServer } from "./kit.ts";

const page = (title: string, ...links: string[]) =>
  html(
    `<title>${title}</title><p>${title} says enough.</p>${links.map((link) => `<a href="${link}">x</a>`).join(" ")}`,
  );
const FIELDS = { fields: { p: "p" } };
const CLOSED = robots("User-agent: *\nDisallow: /private\n");

describe("what an operator says of a site", () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  async function say(site: MisbehavingSite, wishes: Partial<SiteLimits>): Promise<void> {
    await using client = await openClient(server.config);
    await client.store.setSite(site.name, wishes);
  }
  const saidOfRobots = async (run: string) =>
    (await server.events(run)).filter(({ message }) => message.startsWith("robots.txt of"));

  test("that its robots.txt is not asked holds for a crawl that would, and the crawl's log says so once", async () => {
    const private_ = ["/private/1", "/private/2", "/private/3"];
    await using site = await MisbehavingSite.start({ "/robots.txt": CLOSED, "/": page("Start", ...private_) });
    for (const path of private_) site.on(path, page(path));
    const obeying = await crawler.crawl({ url: site.url("/"), ...FIELDS });
    assert.deepEqual([obeying.items.length, (await saidOfRobots(obeying.id)).length], [1, 0]);
    await say(site, { respectRobots: false });
    const { id, items } = await crawler.crawl({ url: site.url("/"), ...FIELDS });
    assert.equal(items.length, 4);
    const [told, ...more] = await saidOfRobots(id);
    assert.deepEqual([told!.level, more.length], ["warn", 0]);
    assert.ok(told!.message.includes(`${site.name} is not obeyed, although the run requests it`), told!.message);
  });

  test("that its robots.txt is obeyed holds for pages and crawls that do not ask for it", async () => {
    await using site = await MisbehavingSite.start({ "/robots.txt": CLOSED, "/private": page("Private") });
    await say(site, { respectRobots: true });
    const run = await server.run({ target_url: site.url("/private"), ...FIELDS });
    assert.deepEqual([run.status, run.failure_reason], ["failed", "robots_disallowed"]);
    assert.equal((await saidOfRobots(run.id)).length, 1);
    const crawl = await crawler.crawl({ url: site.url("/private"), respect_robots: false, ...FIELDS });
    assert.deepEqual([crawl.items.length, (await saidOfRobots(crawl.id)).length], [0, 1]);
    assert.equal(site.of("/private").length, 0, "nobody has asked for it");
  });

  test("its strategy is that of runs that leave the choice open, and of no other", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start") });
    await say(site, { strategy: "http" });
    const open = await server.run({ target_url: site.url("/"), ...FIELDS });
    assert.deepEqual([open.resolved_strategy, evidenceOf(open).rule], ["http", "site"]);
    assert.match(evidenceOf(open).because, /the strategy of the site is set to http/);
    await say(site, { strategy: "browser" });
    const explicit = await server.run({ target_url: site.url("/"), strategy: "http", ...FIELDS });
    assert.deepEqual([explicit.resolved_strategy, evidenceOf(explicit).rule], ["http", "explicit"]);
    await say(site, { strategy: "auto" });
    assert.equal(evidenceOf(await server.run({ target_url: site.url("/"), ...FIELDS })).rule, "probe");
  });
});
