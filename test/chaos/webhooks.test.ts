import assert from "node:assert/strict";
import { test } from "node:test";
import { integerBelow } from "../../src/base/random.ts";
import { clientOf, Receiver } from "../firecrawl/kit.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html, slow } from "../support/misbehaviours.ts";
import { assertSound, pause, withSeed } from "./kills.ts";
import { FULL, Orb } from "./orb.ts";
import { Served } from "./served.ts";

const KILLS = FULL ? 10 : 2;
const PAGES = FULL ? 400 : 60;

test("a crawl that is killed again and again tells its webhook of every page, and of its end once all are told", async () => {
  await withSeed(async (random) => {
    const routes: Record<string, Route> = {};
    const links = Array.from({ length: PAGES }, (_, n) => `<a href="/page-${n}">x</a>`).join("");
    routes["/"] = html(`<title>Start</title><p>Start.</p>${links}<a href="/gone">x</a>`);
    for (let n = 0; n < PAGES; n += 1)
      routes[`/page-${n}`] = slow(20 + (n % 7) * 10, html(`<title>Page ${n}</title><p>Words of page ${n}.</p>`));
    await using site = await MisbehavingSite.start(routes);
    await using receiver = await Receiver.open();
    await using orb = new Orb({ APP_MAX_PER_HOST: "5", APP_RETRY_BASE_SECONDS: "0.2" });
    let served = await Served.start(orb);
    const { id } = await clientOf(served.api.url).startCrawl(site.url("/"), { sitemap: "skip", webhook: receiver.url });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await pause(150 + integerBelow(random, 400));
      receiver.answers.push(500);
      await served.killed();
      served = await Served.start(orb);
    }
    await receiver.until(() => receiver.types.includes("crawl.completed"));
    const told = receiver.heard.map(({ body: call }) => call);
    assert.ok(told.every((call) => call.id === id));
    const pages = new Set(
      told.filter(({ type }) => type === "crawl.page").map(({ data }) => data[0]?.metadata["sourceURL"]),
    );
    const all = ["/", "/gone", ...Array.from({ length: PAGES }, (_, n) => `/page-${n}`)];
    assert.deepEqual(
      [...pages].toSorted(),
      all.map((path) => site.url(path)).toSorted(),
      "exactly these, none missing",
    );
    // What was on its way when the process died may come twice, and is known by its id.
    const ids = new Map(
      told.map(({ webhookId, type, data }) => [webhookId, `${type} ${String(data[0]?.metadata["sourceURL"])}`]),
    );
    assert.equal(ids.size, PAGES + 4, "the beginning, every page, the end");
    assert.equal(new Set(ids.values()).size, PAGES + 4);
    assert.equal(
      told.findIndex(({ type }) => type === "crawl.started"),
      0,
    );
    assert.equal(
      told.findLastIndex(({ type }) => type === "crawl.page") <
        told.findIndex(({ type }) => type === "crawl.completed"),
      true,
    );
    await served.terminated();
    await orb.audit();
    assertSound(orb.database);
  });
});
