import assert from "node:assert/strict";
import { test } from "node:test";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import { RobotsGate } from "../../src/sites/robots.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { page, robots, status } from "../support/misbehaviours.ts";
import { failureOf, testClient } from "../support/net.ts";
import { startProxies } from "../support/proxies.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const FORBIDS = robots("User-agent: *\nDisallow: /private\n");
const DAY = 24 * 3_600_000;

/** A site, two proxies that lead to it, and whoever comes without one. */
async function gateBehindProxies(route: Route) {
  const site = await MisbehavingSite.start({ "/robots.txt": route });
  const proxies = await startProxies([{ kind: "connect" }, { kind: "socks5" }]);
  const [one, two] = proxies.all.map(({ url }) => parseUpstream(url) as Upstream);
  const http = testClient();
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  const backoff = { baseMs: 30_000, maxMs: 300_000 };
  const gate = new RobotsGate({ http, clock, store, productToken: "orb-test", backoff });
  const check = (path: string, via?: Upstream) => gate.check(site.url(path), new AbortController().signal, via);
  return {
    site,
    clock,
    one: one!,
    two: two!,
    check,
    reason: async (path: string, via?: Upstream) => (await failureOf(check(path, via))).reason,
    mayFollow: (path: string, via?: Upstream) => gate.mayFollow(new URL(site.url(path)), via),
    kept: () => store.robots(site.origin),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await http[Symbol.asyncDispose]();
      await proxies[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

test("rules that were read through a proxy are everybody's", async () => {
  await using door = await gateBehindProxies(FORBIDS);
  await door.check("/p", door.one);
  assert.equal(await door.reason("/private", door.two), "robots_disallowed");
  assert.equal(await door.reason("/private"), "robots_disallowed");
  assert.equal(door.site.count("/robots.txt"), 1);
});

for (const [name, route] of Object.entries<Route>({
  "a refusal": status(403),
  "a wish for a password": status(401),
  "a wish for a password for the proxy": status(407),
  "a page in the place of robots.txt": page("Please sign in to your proxy"),
}))
  test(`${name} through one proxy sends the page through another, and opens nothing to others`, async () => {
    await using door = await gateBehindProxies(route);
    const { reason, httpStatus } = await failureOf(door.check("/private", door.one));
    assert.deepEqual([reason, httpStatus], ["robots_unreachable", undefined]);
    // Who is told the same again believes it, for its own pages.
    await door.check("/private", door.two);
    assert.equal(door.mayFollow("/private", door.two), true);
    assert.equal(door.mayFollow("/private", door.one), null);
    assert.equal(await door.kept(), null);
    door.site.on("/robots.txt", FORBIDS);
    assert.equal(await door.reason("/private"), "robots_disallowed");
    assert.equal(await door.reason("/private", door.two), "robots_disallowed", "what was read counts most");
  });

test("an overloaded server through one proxy closes the site to nobody else", async () => {
  await using door = await gateBehindProxies(status(429, { "retry-after": "120" }));
  assert.equal(await door.reason("/p", door.one), "robots_unreachable");
  assert.equal(await door.reason("/p", door.one), "robots_unreachable");
  assert.equal(door.site.count("/robots.txt"), 1, "which is left alone meanwhile");
  assert.equal(await door.reason("/p", door.two), "http_too_many_requests", "two have been told: the site wants it");
  door.site.on("/robots.txt", FORBIDS);
  await door.check("/p");
  await door.check("/p", door.one);
});

test("a server error that only we are told of keeps no proxy from asking", async () => {
  await using door = await gateBehindProxies(status(500));
  assert.equal(await door.reason("/p"), "robots_unreachable");
  door.site.on("/robots.txt", FORBIDS);
  await door.check("/p", door.one);
});

test("while the rules of yesterday are known, no refusal through a proxy undoes them", async () => {
  await using door = await gateBehindProxies(FORBIDS);
  await door.check("/p");
  await door.clock.advance(DAY + 1);
  for (const route of [status(403), status(500), page("Hello")]) {
    door.site.on("/robots.txt", route);
    for (const via of [door.one, door.two]) assert.equal(await door.reason("/private", via), "robots_disallowed");
    await door.clock.advance(3_600_000);
  }
});

test("that there is no robots.txt holds for the proxy at once, and for all when a second one says so", async () => {
  await using door = await gateBehindProxies(status(404));
  await door.check("/p", door.one);
  await door.check("/q", door.one);
  assert.deepEqual([door.site.count("/robots.txt"), await door.kept()], [1, null]);
  await door.check("/p", door.two);
  assert.notEqual(await door.kept(), null);
  await door.check("/p");
  assert.equal(door.site.count("/robots.txt"), 2);
});
