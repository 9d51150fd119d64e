import { test } from "node:test";
import { GOAL, goalSite } from "../support/goal-site.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { Crawler } from "./crawler.ts";
import { TestServer } from "./kit.ts";
test("diag", async () => {
  await using server = await TestServer.open();
  const crawler = new Crawler(server);
  for (const seed of [7, 8, 9]) {
  const made = goalSite(2000, seed);
  await using site = await MisbehavingSite.start(made.routes);
  const { view, items } = await crawler.crawl({ url: site.url("/"), max_depth: 100, max_pages: 10000, goal: GOAL });
  const paths = site.visits.map(({ path }) => path).filter((p) => p !== "/robots.txt");
  let rel = 0; const kinds: Record<string, number> = {}; const rows: string[] = [];
  for (const [i, p] of paths.entries()) {
    const kind = made.relevant.has(p) ? "rel" : /\/page\/|\/$/.test(p) ? "list " + (p.split("/")[1]) : p.startsWith("/offers") ? "offer" : "other";
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (kind === "rel") rel++;
    if (i % 50 === 49) rows.push(`${i + 1}: rel ${rel} ${JSON.stringify(kinds)}`);
    if (rel === 180 && kind === "rel") rows.push(`90% at ${i + 1}`);
  }
  console.error(seed, made.pages, view.message, rows.slice(0, 14).join("\n"));
  const r = new Map((items as any[]).map((x) => [new URL(x.url).pathname, x.relevance]));
  const of = (f: (p: string) => boolean) => [...r].filter(([p]) => f(p)).map(([, v]) => v).sort((a, b) => a - b);
  const q = (l: number[]) => [l[0], l[l.length >> 2], l[l.length >> 1], l[(l.length * 3) >> 2], l.at(-1)];
  console.error("rel", q(of((p) => made.relevant.has(p))), "cyc", q(of((p) => !made.relevant.has(p) && p.startsWith("/cycling"))), "other", q(of((p) => !made.relevant.has(p) && !p.startsWith("/cycling"))));
  }
});
