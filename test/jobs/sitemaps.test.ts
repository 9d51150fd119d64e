import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { CrawlView } from "../../src/orchestrator/crawls/view.ts";
import type { TaskView } from "../../src/orchestrator/runs/view.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { firstTimes, held, html, robots, sendTo, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const urlset = (urls: readonly string[]) =>
  `<?xml version="1.0"?><urlset ${NS}>${urls.map((url) => `<url><loc>${url}</loc></url>`).join("")}</urlset>`;
const index = (urls: readonly string[]) =>
  `<sitemapindex ${NS}>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join("")}</sitemapindex>`;
const page = (title: string, ...links: string[]) =>
  html(`<title>${title}</title><p>Words of ${title}.</p>${links.map((link) => `<a href="${link}">x</a>`).join("")}`);

const file = (body: string | Buffer, headers: Record<string, string> = {}): Route => {
  return (_visit, response) => void response.writeHead(200, { "content-type": "text/xml", ...headers }).end(body);
};

describe("a crawl that is to use sitemaps", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  const crawl = async (body: object) => {
    const answer = await server.api.post("/scraping/async-scrape", { use_sitemap: true, fields: { p: "p" }, ...body });
    assert.equal(answer.status, 202, answer.text);
    const id = answer.json<{ task_id: string }>().task_id;
    await server.ended(id);
    const view = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    const said = (await server.events(id)).map(({ level, message }) => `${level} ${message}`);
    const items: { url: string; depth: number }[] = [];
    for (let path: string | null = `/scraping/tasks/${id}/results?limit=1000`; path !== null;) {
      const results = await server.api.get(path);
      items.push(...results.json<{ items: typeof items }>().items);
      path = /<([^>]+)>; rel="next"/.exec(String(results.headers["link"] ?? ""))?.[1] ?? null;
    }
    return { id, view, items, said: said.filter((line) => /^\w+ (No sitemap|Sitemap)\b/.test(line)) };
  };
  const depths = (items: readonly { url: string; depth: number }[]) =>
    Object.fromEntries(items.map(({ url, depth }) => [new URL(url).pathname, depth]));

  // More pages than a batch or a list of results has take seconds.
  for (const [size, mark] of [
    [40, ""],
    [1500, " [slow]"],
  ] as const)
    test(`has exactly the pages that robots.txt, an index, a packed file and another host's file name: ${size}${mark}`, async () => {
      const many = Array.from({ length: size }, (_, n) => `/item/${n}`);
      await using site = await MisbehavingSite.start({ "/": page("Start", "/linked"), "/linked": page("Linked") });
      await using other = await MisbehavingSite.start({ "/theirs": page("Theirs") });
      for (const path of [...many, "/one", "/two"]) site.on(path, page(path));
      site.on(
        "/robots.txt",
        robots(`User-agent: *\nSitemap: ${site.url("/index.xml")}\nSitemap: ${other.url("/map.txt")}`),
      );
      site.on("/index.xml", file(index([site.url("/many.xml.gz"), site.url("/index.xml"), site.url("/none.xml")])));
      const packed = gzipSync(
        urlset(
          [...many, "/item/7#again", other.url("/theirs"), "/photo.jpg", "/"].map(
            (path) => new URL(path, site.origin).href,
          ),
        ),
      );
      site.on("/many.xml.gz", file(packed, { "content-type": "application/octet-stream" }));
      site.on("/none.xml", status(404));
      other.on("/map.txt", file([site.url("/one"), site.url("/two"), site.url("/item/1")].join("\n")));
      const { id, view, items, said } = await crawl({ url: site.url("/"), max_pages: 10_000 });

      const expected = ["/", "/linked", "/one", "/two", ...many];
      assert.deepEqual(Object.keys(depths(items)).toSorted(), expected.toSorted());
      assert.deepEqual([view.status, view.end_reason], ["completed", "exhausted"], view.message ?? "");
      const counts = [view.total_items, view.completed_items, view.failed_items, view.skipped_items];
      assert.deepEqual(counts, [expected.length, expected.length, 0, 0], "sitemaps are no pages");
      assert.deepEqual(view.errors, { timeout: 0, connection: 0, general: 0 });
      assert.equal(depths(items)["/"], 0);
      assert.equal(depths(items)["/item/3"], 1);
      for (const visited of [site, other])
        for (const { path } of visited.visits) assert.equal(visited.count(path), 1, `${path} is asked for once`);
      const expectedWords = [
        `info Sitemap read: ${other.url("/map.txt")}: 3 pages`,
        `info Sitemap read: ${site.url("/index.xml")}: 3 sitemaps`,
        `info Sitemap read: ${site.url("/many.xml.gz")}: ${size + 1} pages, 2 skipped by the scope of the crawl`,
        `warn Sitemap not read: ${site.url("/none.xml")}: the server answered 404 (not found)`,
      ];
      assert.deepEqual(said.toSorted(), expectedWords.toSorted());
      const tasks = (await server.api.get(`/jobs/runs/${id}/tasks?status=failed`)).json<TaskView[]>();
      assert.deepEqual(
        tasks.map((task) => [task.url, task.handler]),
        [[site.url("/none.xml"), "@sitemap"]],
      );
      const errors = await server.api.get(`/scraping/tasks/${id}/results?include_errors=true&limit=1`);
      assert.deepEqual(errors.json<{ errors: unknown[] }>().errors, []);
    });

  test("looks at the usual place when robots.txt names none, and says so when there is nothing", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start"), "/hidden": page("Hidden") });
    const none = await crawl({ url: site.url("/") });
    assert.deepEqual([none.view.status, none.view.total_items], ["completed", 1]);
    assert.deepEqual(none.said, [`info No sitemap: ${site.url("/sitemap.xml")}: the server answered 404 (not found)`]);
    site.on("/sitemap.xml", page("Everything is a page here"));
    const [soft] = (await crawl({ url: site.url("/") })).said;
    assert.match(soft ?? "", /^info No sitemap: \S+: expected a sitemap or a feed, found <title>$/);
    const twice = gzipSync(gzipSync(urlset([site.url("/hidden")])));
    site.on("/sitemap.xml", file(twice, { "content-encoding": "gzip" }));
    const found = await crawl({ url: site.url("/") });
    assert.deepEqual(depths(found.items), { "/": 0, "/hidden": 1 });
    const off = await crawl({ url: site.url("/"), use_sitemap: false });
    assert.deepEqual([depths(off.items), off.said], [{ "/": 0 }, []]);
  });

  test("stops at its page limit in the middle of a large sitemap, and at its depth [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start") });
    const many = Array.from({ length: 20_000 }, (_, n) => `/item/${n}`);
    for (const path of many.slice(0, 1000)) site.on(path, page(path));
    site.on("/sitemap.xml", file(urlset(many.map((path) => site.url(path)))));
    const { view, items, said } = await crawl({ url: site.url("/"), max_pages: 20 });
    assert.deepEqual(
      [view.status, view.end_reason, view.total_items, items.length],
      ["completed", "limit_pages", 20, 20],
    );
    assert.deepEqual(Object.keys(depths(items)).toSorted(), ["/", ...many.slice(0, 19)].toSorted());
    // The crawl may have all its pages before the sitemap is read as far as that.
    const cut = `info Sitemap read: ${site.url("/sitemap.xml")}: more pages than max_pages allows`;
    assert.deepEqual(said.slice(0, 1), said.length === 0 ? [] : [cut]);
    const flat = await crawl({ url: site.url("/"), max_depth: 0 });
    assert.deepEqual([flat.view.end_reason, depths(flat.items)], ["limit_depth", { "/": 0 }]);
  });

  test("obeys robots.txt, follows redirects and tries again what may pass", async () => {
    await using other = await MisbehavingSite.start({});
    await using site = await MisbehavingSite.start({
      "/": page("Start"),
      "/a": page("A"),
      "/b": page("B"),
      "/named/map.xml": sendTo("/named/real.xml"),
      "/away.xml": sendTo(`${other.origin}/map.xml`),
    });
    site.on(
      "/robots.txt",
      robots(`User-agent: *\nDisallow: /named\nDisallow: /closed\nSitemap: ${site.url("/named/map.xml")}`),
    );
    site.on("/named/real.xml", firstTimes(1, status(500), file(index(["/closed.xml", "/away.xml"]))));
    other.on("/map.xml", file(urlset([site.url("/a"), site.url("/b"), site.url("/closed/c")])));
    const { view, items, said } = await crawl({ url: site.url("/") });
    assert.deepEqual(depths(items), { "/": 0, "/a": 1, "/b": 1 });
    assert.deepEqual(
      [view.status, view.total_items, view.failed_items],
      ["completed", 4, 1],
      "what robots.txt forbids",
    );
    assert.equal(site.count("/closed.xml"), 0);
    assert.deepEqual(said.toSorted(), [
      `info Sitemap read: ${site.url("/away.xml")}: 3 pages`,
      `info Sitemap read: ${site.url("/named/map.xml")}: 2 sitemaps`,
      `warn Sitemap not read: ${site.url("/closed.xml")}: the site's robots.txt disallows it`,
    ]);
  });

  test("asks the robots.txt of the host where a sitemap lies, also when another host has named it or sent it there", async () => {
    const closed = robots("User-agent: *\nDisallow: /maps\n");
    await using other = await MisbehavingSite.start({ "/robots.txt": closed });
    await using site = await MisbehavingSite.start({ "/": page("Start"), "/a": page("A"), "/b": page("B") });
    const names = [other.url("/maps/named.xml"), other.url("/open.xml"), site.url("/maps/moved.xml")];
    site.on("/robots.txt", robots(`User-agent: *\nDisallow: /maps\n${names.map((at) => `Sitemap: ${at}\n`).join("")}`));
    site.on("/maps/moved.xml", sendTo(other.url("/maps/there.xml")));
    for (const path of ["/maps/named.xml", "/maps/there.xml"]) other.on(path, file(urlset([site.url("/a")])));
    other.on("/open.xml", file(urlset([site.url("/b")])));
    const { view, items, said } = await crawl({ url: site.url("/") });
    assert.deepEqual(depths(items), { "/": 0, "/b": 1 });
    assert.equal(view.status, "completed");
    assert.deepEqual([other.count("/maps/named.xml"), other.count("/maps/there.xml")], [0, 0]);
    assert.equal(site.count("/maps/moved.xml"), 1, "that one its own host has named");
    const refusal = "the site's robots.txt disallows it";
    const expected = [
      `info Sitemap read: ${other.url("/open.xml")}: 1 page`,
      `warn Sitemap not read: ${other.url("/maps/named.xml")}: ${refusal}`,
      `warn Sitemap not read: ${site.url("/maps/moved.xml")}: ${refusal}`,
    ];
    assert.deepEqual(said.toSorted(), expected.toSorted());
  });

  test("begins slowly with a site of which it has read the sitemap and no page", async () => {
    const many = Array.from({ length: 30 }, (_, n) => `/item/${n}`);
    await using site = await MisbehavingSite.start({});
    const go = Promise.withResolvers<void>();
    for (const path of ["/", ...many]) site.on(path, held(go.promise, page(path)));
    site.on("/sitemap.xml", file(urlset(many.map((path) => site.url(path)))));
    const running = crawl({ url: site.url("/") });
    await site.when(() => site.open >= 4, "the first pages are asked for");
    // As many calls as it would take the crawl to ask for more.
    for (let n = 0; n < 20; n += 1) await server.api.get("/scraping/status");
    const atOnce = site.open;
    go.resolve();
    assert.equal((await running).items.length, 31);
    assert.ok(atOnce <= 5, `${atOnce} at once`);
  });

  test("says at its end that a sitemap could not be read, and retry-failed reads it although no page has failed", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start"), "/a": page("A") });
    site.on("/robots.txt", robots(`User-agent: *\nSitemap: ${site.url("/map.xml")}\n`));
    site.on("/map.xml", status(500));
    const { id, view, items } = await crawl({ url: site.url("/"), retry_attempts: 0 });
    assert.deepEqual([view.status, view.end_reason, view.failed_items], ["completed", "exhausted", 0]);
    assert.match(view.message ?? "", /1 sitemap could not be read/);
    assert.deepEqual(depths(items), { "/": 0 });
    site.on("/map.xml", file(urlset([site.url("/a")])));
    const again = await server.api.post(`/jobs/runs/${id}/retry-failed`, {});
    assert.equal(again.status, 200, again.text);
    await server.ended(id);
    const after = (await server.api.get(`/scraping/tasks/${id}/status`)).json<CrawlView>();
    assert.deepEqual([after.status, after.total_items], ["completed", 2]);
    assert.doesNotMatch(after.message ?? "", /sitemap/);
    const nothing = await server.api.post(`/jobs/runs/${id}/retry-failed`, {});
    assert.equal(nothing.status, 409);
  });

  test("comes to an end with hostile sitemaps, and says what is wrong with them [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start"), "/good": page("Good") });
    const names = ["bomb", "circle-a", "dtd", "damaged", "html", "deep-0", "large"];
    site.on("/robots.txt", robots(names.map((name) => `Sitemap: ${site.url(`/${name}.xml`)}`).join("\n")));
    site.on("/bomb.xml", file(gzipSync(Buffer.alloc(60 * 1024 * 1024, "<url>"), { level: 1 })));
    site.on("/circle-a.xml", file(index(["/circle-b.xml", "/circle-a.xml"])));
    site.on("/circle-b.xml", file(index(["/circle-a.xml"])));
    const dtd = `<!DOCTYPE urlset [<!ENTITY a "${site.url("/secret")}"><!ENTITY b SYSTEM "file:///etc/passwd">]>`;
    site.on("/dtd.xml", file(dtd + urlset(["&a;", "&b;", site.url("/good")])));
    site.on("/damaged.xml", file(gzipSync(urlset([site.url("/never")])).subarray(0, 40)));
    site.on("/html.xml", page("No sitemap"));
    for (let depth = 0; depth < 6; depth += 1) site.on(`/deep-${depth}.xml`, file(index([`/deep-${depth + 1}.xml`])));
    site.on("/large.xml", file(urlset(Array.from({ length: 3 }, () => site.url("/good"))).padEnd(51 * 1024 * 1024)));
    const { view, items, said } = await crawl({ url: site.url("/"), retry_attempts: 0 });
    assert.deepEqual([view.status, depths(items)], ["completed", { "/": 0, "/good": 1 }]);
    const about = (name: string) => said.filter((line) => line.includes(`/${name}.xml`)).join("\n");
    assert.match(about("bomb"), /^warn Sitemap not read: \S+: the decompressed file has more than 52428800 bytes$/);
    assert.match(about("circle-a"), /^info Sitemap read: \S+: 2 sitemaps$/);
    assert.match(about("circle-b"), /^info Sitemap read: \S+: 1 sitemap$/);
    // What a file says its own entities mean is not believed: they stand for themselves.
    assert.match(about("dtd"), /^info Sitemap read: \S+: 3 pages$/);
    assert.equal(site.count("/secret"), 0);
    assert.match(about("damaged"), /^warn Sitemap not read: \S+: the compressed file is incomplete$/);
    assert.match(about("html"), /^warn Sitemap not read: \S+: expected a sitemap or a feed, found <title>$/);
    assert.match(about("deep-3"), /^warn Sitemap not read: \S+: sitemap indexes are nested more than 3 levels deep$/);
    assert.equal(site.count("/deep-4.xml"), 0);
    assert.match(about("large"), /^warn Sitemap not read: \S+: the body is larger than 52428800 bytes$/);
    for (const name of ["circle-a", "circle-b"]) assert.equal(site.count(`/${name}.xml`), 1, `${name} is read once`);
  });

  test("reads a thousand sitemaps, and leaves the rest of an endless number [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Start") });
    const maps = Array.from({ length: 1_200 }, (_, n) => `/map-${n}.xml`);
    for (const path of maps) site.on(path, file(urlset([])));
    site.on("/sitemap.xml", file(index(maps)));
    const { view, said } = await crawl({ url: site.url("/") });
    assert.equal(view.status, "completed");
    const first = said.find((line) => line.includes("/sitemap.xml"));
    assert.match(
      first ?? "",
      /^warn Sitemap read: \S+: 1200 sitemaps; some were skipped, because a crawl reads at most 1000/,
    );
    assert.equal(maps.filter((path) => site.count(path) === 1).length, 999, "the index is one of the thousand");
  });
});
