import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { CrawlDetail } from "../../src/orchestrator/crawls/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { hang, held, html, slow } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

interface Item {
  url: string;
  depth: number;
  title: string;
  author: string | null;
  published_at: string | null;
  text: string;
  markdown: string;
  language: string | null;
  word_count: number;
  content_hash: string;
  links: string[];
}

const TOPICS = ["night", "wind", "silk", "prey", "mending"];
const PER_TOPIC = 6;
const CHAIN = 7;
const articlePath = (topic: string, n: number) => `/articles/${topic}-${n}`;
const words = (topic: string, n: number) =>
  `Spiders know much about ${topic}, and this is part ${n} of what they would tell if anybody asked them for it. `.repeat(
    4,
  );

function article(title: string, text: string, author: string, day: number, links: readonly string[]): Route {
  return html(
    `<!doctype html><html lang="en"><head><title>${title}</title><meta name="author" content="${author}">
     <meta property="article:published_time" content="2026-03-${String(day).padStart(2, "0")}T08:00:00Z"></head><body>
     <nav><a href="/">Home</a></nav><article><h1>${title}</h1><p>${text}</p><h2>More</h2><p>${text}</p></article>
     ${links.map((link) => `<a href="${link}">read on</a>`).join(" ")}</body></html>`,
  );
}

const list = (title: string, links: readonly string[]) =>
  html(
    `<!doctype html><html lang="en"><title>${title}</title><body><h1>${title}</h1><ul>${links
      .map((link) => `<li><a href="${link}">${link.slice(1)}</a></li>`)
      .join("")}</ul><a href="/">Home</a></body></html>`,
  );

/** A front page, five lists, thirty articles, and a serial of which each part is linked by the one before alone. */
function magazine(): { routes: Record<string, Route>; depths: Map<string, number> } {
  const routes: Record<string, Route> = {
    "/": list("The Web", [...TOPICS.map((topic) => `/topics/${topic}`), "/serial/1"]),
  };
  const depths = new Map([["/", 0]]);
  for (const topic of TOPICS) {
    const articles = Array.from({ length: PER_TOPIC }, (_, n) => articlePath(topic, n));
    routes[`/topics/${topic}`] = list(`About ${topic}`, articles);
    depths.set(`/topics/${topic}`, 1);
    for (const [n, path] of articles.entries()) {
      const others = articles.filter((other) => other !== path);
      routes[path] = article(`${topic} ${n}`, words(topic, n), `Author ${n}`, n + 1, [`/topics/${topic}`, ...others]);
      depths.set(path, 2);
    }
  }
  for (let part = 1; part <= CHAIN; part += 1) {
    const next = part < CHAIN ? [`/serial/${part + 1}`] : [];
    routes[`/serial/${part}`] = article(`Serial ${part}`, words("a serial", part), "The Editors", part, ["/", ...next]);
    depths.set(`/serial/${part}`, part);
  }
  return { routes, depths };
}

describe("a crawl of a magazine", { concurrency: 3 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const begin = async (body: object) =>
    (await server.api.post("/scraping/async-scrape", body)).json<{ task_id: string }>().task_id;
  const view = async (id: string) => (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlDetail>();
  const items = async (id: string) =>
    (await server.api.get(`/scraping/tasks/${id}/results?limit=1000`)).json<{ items: Item[] }>().items;
  const pagesOf = (site: MisbehavingSite) => site.visits.filter(({ path }) => path !== "/robots.txt");

  test("follows every level to depth 5, fetches each page once, and reads all of every article", async () => {
    const { routes, depths } = magazine();
    await using site = await MisbehavingSite.start(routes);
    const within = new Map([...depths].filter(([, depth]) => depth <= 5));
    const id = await begin({ url: site.url("/"), max_depth: 5, strategy: "http" });
    assert.equal((await server.ended(id)).status, "completed");
    const end = await view(id);
    assert.deepEqual([end.status, end.end_reason, end.progress], ["completed", "limit_depth", 100]);
    assert.deepEqual([end.total_items, end.completed_items, end.failed_items], [within.size, within.size, 0]);
    assert.deepEqual(
      pagesOf(site)
        .map(({ path }) => path)
        .toSorted(),
      [...within.keys()].toSorted(),
      "each once",
    );
    const found = await items(id);
    assert.deepEqual(
      new Map(found.map(({ url, depth }) => [new URL(url).pathname, depth])),
      within,
      "the pages, and how far each is from the start",
    );
    const hashes = new Set<string>();
    for (const topic of TOPICS)
      for (let n = 0; n < PER_TOPIC; n += 1) {
        const item = found.find(({ url }) => url === site.url(articlePath(topic, n)));
        assert.ok(item !== undefined);
        assert.deepEqual(
          [item.title, item.author, item.published_at, item.language],
          [`${topic} ${n}`, `Author ${n}`, `2026-03-0${n + 1}T08:00:00Z`, "en"],
        );
        assert.ok(item.text.includes(words(topic, n).trim()), item.text);
        assert.match(item.markdown, /^## More$/m);
        assert.ok(item.word_count > 150 && item.word_count < 250, `${item.word_count} words`);
        assert.match(item.content_hash, /^[0-9a-f]{64}$/);
        hashes.add(item.content_hash);
        assert.ok(item.links.includes(site.url(`/topics/${topic}`)) && item.links.includes(site.url("/")));
        assert.equal(new Set(item.links).size, item.links.length);
      }
    assert.equal(hashes.size, TOPICS.length * PER_TOPIC, "what differs has another hash");
  });

  test("calls are answered while pages are under way, whatever these wait for", async () => {
    const { routes } = magazine();
    const gate = Promise.withResolvers<void>();
    for (const [path, route] of Object.entries(routes)) if (path !== "/") routes[path] = held(gate.promise, route);
    await using site = await MisbehavingSite.start(routes);
    const id = await begin({ url: site.url("/"), max_depth: 5, strategy: "http" });
    await site.when(() => site.open >= 4, "as many pages are under way as an unknown site gets");
    // No page is let through before all of these are answered: a call that waits for the crawl would wait for ever.
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        [
          `/scraping/tasks/${id}/status`,
          `/scraping/tasks/${id}/results?include_errors=true`,
          `/jobs/runs/${id}/sites`,
          "/scraping/status",
          "/scraping/tasks?status=running",
          "/health",
        ].map((path) => server.api.get(path)),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    }
    const running = await view(id);
    assert.deepEqual([running.status, running.completed_items, running.running_items], ["running", 1, 6]);
    gate.resolve();
    assert.equal((await server.ended(id)).status, "completed");
  });

  test("a site that hangs does not keep another from its end", async () => {
    await using patient = await TestServer.open({ APP_HTTP_TIMEOUT_SECONDS: "600" });
    const { routes, depths } = magazine();
    await using site = await MisbehavingSite.start(routes);
    await using dead = await MisbehavingSite.start({ "/": hang });
    const body = { url: [dead.url("/"), site.url("/")], max_depth: 10, strategy: "http" };
    const answer = await patient.api.post("/scraping/async-scrape", body);
    const id = answer.json<{ task_id: string }>().task_id;
    await dead.visited("/");
    await site.when(
      () => pagesOf(site).length === depths.size && site.open === 0,
      "all pages of the other are fetched",
    );
    const done = async () =>
      (await patient.api.get(`/scraping/tasks/${id}/status`)).json<CrawlDetail>().completed_items === depths.size;
    while (!(await done()));
    assert.equal(dead.of("/")[0]?.endedAt, null, "the first still hangs");
    await patient.api.call("DELETE", `/scraping/tasks/${id}`);
  });

  test("begins no fetch after it was cancelled, and what was got stays", async () => {
    await using site = await MisbehavingSite.start({});
    const paths = Array.from({ length: 200 }, (_, n) => `/p/${n}`);
    site.on("/", list("Start", paths));
    for (const path of paths) site.on(path, slow(50, list(path, ["/"])));
    const id = await begin({ url: site.url("/"), max_concurrent_articles: 5, strategy: "http" });
    await site.when(() => pagesOf(site).length >= 20, "it is in full swing");
    const answer = await server.api.call("DELETE", `/scraping/tasks/${id}`);
    assert.equal(answer.json<CrawlDetail>().status, "cancelled");
    // A request may have left before the answer and arrive after it. Whatever goes on would have begun others by then.
    const next = async () => server.ended(await begin({ url: site.url("/p/0"), max_depth: 0 }));
    await next();
    await site.when(() => site.open === 0, "what was under way has ended");
    const begun = pagesOf(site).length;
    await next();
    assert.equal(pagesOf(site).length, begun + 1, "only the next crawl has fetched since");
    const kept = await items(id);
    assert.ok(kept.length >= 1 && kept.length < 200, `${kept.length} pages are kept`);
    assert.equal((await view(id)).status, "cancelled");
  });
});
