import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { GOAL, type GoalSite, goalSite } from "../support/goal-site.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";

describe("a crawl with a goal", () => {
  let server: TestServer;
  let crawler: Crawler;
  before(async () => {
    server = await TestServer.open();
    crawler = new Crawler(server);
  });
  after(() => server[Symbol.asyncDispose]());

  /** How many pages a crawl fetches until it has this share of the relevant ones. */
  const pagesUntil = async ({ routes, relevant }: GoalSite, share: number, body: object) => {
    await using site = await MisbehavingSite.start(routes);
    const { view } = await crawler.crawl({ url: site.url("/"), max_depth: 100, max_pages: 10_000, ...body });
    const paths = site.visits.map(({ path }) => path).filter((path) => path !== "/robots.txt");
    const needed = Math.ceil(relevant.size * share);
    let found = 0;
    const at = paths.findIndex((path) => relevant.has(path) && ++found === needed);
    return { pages: at < 0 ? Number.POSITIVE_INFINITY : at + 1, all: paths.length, view };
  };

  const compare = async (size: number) => {
    const site = goalSite(size);
    const plain = await pagesUntil(site, 0.9, {});
    const directed = await pagesUntil(site, 0.9, { goal: GOAL });
    assert.deepEqual([plain.all, directed.all], [site.pages, site.pages], "both fetch every page once in the end");
    return { plain: plain.pages, directed: directed.pages, share: directed.pages / plain.pages };
  };

  test("finds most relevant pages among the first it fetches", async (t) => {
    const { plain, directed, share } = await compare(400);
    t.diagnostic(`breadth first ${plain} pages, with the goal ${directed} (${Math.round(share * 100)} %)`);
    assert.ok(share <= 0.45, `${directed} of ${plain} pages`);
  });

  test("finds 90 % of 200 relevant pages among 2,000 within 30 % of what breadth-first needs [slow]", async (t) => {
    const { plain, directed, share } = await compare(2000);
    t.diagnostic(`breadth first ${plain} pages, with the goal ${directed} (${Math.round(share * 100)} %)`);
    assert.ok(share <= 0.3, `${directed} of ${plain} pages`);
  });
});
