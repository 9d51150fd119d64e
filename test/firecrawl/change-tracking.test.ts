import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Firecrawl } from "@mendable/firecrawl-js";
import { TestServer } from "../jobs/kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, status } from "../support/misbehaviours.ts";
import { clientOf } from "./kit.ts";

const kettle = (price: string, ...more: string[]) =>
  html(
    `<title>A kettle</title><script type="application/ld+json">${JSON.stringify({ "@type": "Product", name: "A kettle", offers: { price, priceCurrency: "EUR" } })}</script>
     <main><h1>A kettle</h1><p>It boils water, and it costs ${price} euros today.</p>${more.map((text) => `<p>${text}</p>`).join("")}</main>`,
  );

interface Tracking {
  previousScrapeAt: string | null;
  changeStatus: string;
  visibility: string;
  diff?: { text: string; json: { files: { chunks: { changes: { type: string; content: string }[] }[] }[] } };
  json?: Record<string, { previous: unknown; current: unknown }>;
}

describe("change tracking of Firecrawl's client", () => {
  let server: TestServer;
  let app: Firecrawl;
  before(async () => {
    server = await TestServer.open();
    app = clientOf(server.api.url);
  });
  after(() => server[Symbol.asyncDispose]());

  const scrape = async (url: string, more: object = {}) => {
    const formats = ["markdown", { type: "changeTracking", modes: ["git-diff"], ...more }] as never;
    const { changeTracking } = await app.scrape(url, { formats });
    return changeTracking as unknown as Tracking;
  };

  test("a page is new, then the same, then changed with its difference, then removed", async () => {
    await using site = await MisbehavingSite.start({ "/kettle": kettle("20") });
    const url = site.url("/kettle");
    assert.deepEqual(await scrape(url), { previousScrapeAt: null, changeStatus: "new", visibility: "visible" });
    const same = await scrape(url);
    assert.equal(same.changeStatus, "same");
    assert.ok(Date.parse(same.previousScrapeAt ?? "") > 0);
    assert.equal(same.diff, undefined);
    site.on("/kettle", kettle("18", "Now with a lid."));
    const changed = await scrape(url);
    assert.equal(changed.changeStatus, "changed");
    assert.match(changed.diff?.text ?? "", /^-.*20 euros today\.$/m);
    assert.match(changed.diff?.text ?? "", /^\+.*18 euros today\.$/m);
    const changes = changed.diff?.json.files[0]?.chunks[0]?.changes ?? [];
    assert.deepEqual(
      changes.filter(({ type }) => type !== "normal").map(({ type, content }) => [type, content[0]]),
      [
        ["del", "-"],
        ["add", "+"],
        ["add", "+"],
      ],
    );
    assert.equal((await scrape(url, { tag: "other" })).changeStatus, "new", "each tag has its own history");
    site.on("/kettle", status(404));
    const removed = await scrape(url);
    assert.deepEqual([removed.changeStatus, removed.visibility], ["removed", "hidden"]);
    await assert.rejects(scrape(site.url("/never")), "a page that was never there is an error");
  });

  test("values of a schema are compared by name", async () => {
    await using site = await MisbehavingSite.start({ "/": kettle("20") });
    const schema = { type: "object", properties: { title: { type: "string" }, price: { type: "number" } } };
    const options = { modes: ["json", "git-diff"], schema };
    assert.equal((await scrape(site.url("/"), options)).json, undefined);
    site.on("/", kettle("18"));
    const { json, changeStatus } = await scrape(site.url("/"), options);
    assert.equal(changeStatus, "changed");
    assert.deepEqual(json, {
      title: { previous: "A kettle", current: "A kettle" },
      price: { previous: 20, current: 18 },
    });
  });

  test("the first version of the client, batches and crawls are compared, too", async () => {
    await using site = await MisbehavingSite.start({
      "/": html('<title>Shop</title><main><h1>Shop</h1><p>All of it.</p><a href="/a">A</a></main>'),
      "/a": kettle("20"),
    });
    const old = async () => {
      const page = await app.v1.scrapeUrl(site.url("/a"), {
        formats: ["markdown", "changeTracking"],
        changeTrackingOptions: { modes: ["git-diff"], tag: "v1" },
      });
      assert.ok(page.success);
      return page.changeTracking;
    };
    assert.equal((await old())?.changeStatus, "new");
    assert.equal((await old())?.changeStatus, "same");
    const formats = ["markdown", { type: "changeTracking", modes: ["git-diff"], tag: "many" }] as never;
    const crawl = async () => {
      const { data } = await app.crawl(site.url("/"), { limit: 10, scrapeOptions: { formats }, pollInterval: 1 });
      return Object.fromEntries(
        data.map(({ metadata, changeTracking }) => [
          new URL(metadata?.sourceURL ?? "").pathname,
          (changeTracking as unknown as Tracking).changeStatus,
        ]),
      );
    };
    assert.deepEqual(await crawl(), { "/": "new", "/a": "new" });
    site.on("/a", kettle("18"));
    assert.deepEqual(await crawl(), { "/": "same", "/a": "changed" });
    const batch = await app.batchScrape([site.url("/a")], { options: { formats }, pollInterval: 1 });
    assert.equal((batch.data[0]?.changeTracking as unknown as Tracking | undefined)?.changeStatus, "same");
  });

  test("what is compared must be asked for", async () => {
    await assert.rejects(
      app.scrape("http://127.0.0.1:1/", { formats: [{ type: "changeTracking", modes: ["git-diff"] }] as never }),
      /add markdown/,
    );
    await assert.rejects(
      app.scrape("http://127.0.0.1:1/", {
        formats: ["markdown", { type: "changeTracking", modes: ["json"] }] as never,
      }),
      /needs a schema or a prompt/,
    );
  });
});
