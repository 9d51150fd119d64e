import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { RobotsGate } from "../../src/sites/robots.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { hang, held, page, resetAtOnce, robots, sendTo, status } from "../support/misbehaviours.ts";
import { failureOf, PLENTY, testClient } from "../support/net.ts";
import { makeDatabase } from "../support/prepared-database.ts";
import { tempDir } from "../support/temp-dir.ts";

const BACKOFF = { baseMs: 30_000, maxMs: 300_000 };
const DAY = 24 * 3_600_000;
const FORBIDS = robots("User-agent: *\nDisallow: /private\n\nUser-agent: orb-test\nDisallow: /for-others\n");

/** A gate before one site, with a clock that the test moves and a store that outlives it. */
async function gateBefore(route: Route | null, limits = PLENTY) {
  const site = await MisbehavingSite.start(route === null ? {} : { "/robots.txt": route });
  const http = testClient({ limits });
  const clock = new FakeClock();
  const folder = tempDir();
  const path = join(folder.path, "orb.db");
  makeDatabase(path);
  const open = () => openSqliteStore({ path, clock });
  let store = open();
  const newGate = () => new RobotsGate({ http, clock, store, productToken: "orb-test", backoff: BACKOFF });
  let gate = newGate();
  return {
    site,
    clock,
    get store() {
      return store;
    },
    /** Another process with the same database. */
    restart: async () => {
      await store.close();
      store = open();
      gate = newGate();
    },
    sitemaps: () => gate.sitemaps(site.origin, new AbortController().signal),
    check: (path: string, signal = new AbortController().signal) => gate.check(site.url(path), signal),
    mayFollow: (path: string) => gate.mayFollow(new URL(site.url(path))),
    reason: async (path: string) => (await failureOf(gate.check(site.url(path), new AbortController().signal))).reason,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await http[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

test("the group of the product's own name counts, and a refusal says what it is", async () => {
  await using door = await gateBefore(FORBIDS);
  await door.check("/private");
  const { code, reason } = await failureOf(door.check("/for-others/x"));
  assert.deepEqual([code, reason], ["robots", "robots_disallowed"]);
  assert.equal(door.site.count("/robots.txt"), 1);
});

test("many pages at once ask one time, and again after a day", async () => {
  await using door = await gateBefore(FORBIDS);
  await Promise.all(Array.from({ length: 20 }, (_, index) => door.check(`/p${index}`)));
  assert.equal(door.site.count("/robots.txt"), 1);
  await door.clock.advance(DAY - 1);
  await door.check("/p");
  assert.equal(door.site.count("/robots.txt"), 1);
  await door.clock.advance(2);
  door.site.on("/robots.txt", robots("User-agent: *\nDisallow: /\n"));
  assert.equal((await failureOf(door.check("/p"))).reason, "robots_disallowed");
  assert.equal(door.site.count("/robots.txt"), 2);
});

for (const [name, route] of Object.entries<Route | null>({
  "a site without robots.txt": null,
  "a robots.txt that is gone": status(410),
  "a robots.txt for members only": status(401),
  "a robots.txt that is forbidden": status(403),
  "a robots.txt that says nothing": robots(""),
  "a page in the place of robots.txt": page("Welcome"),
}))
  test(`${name} allows everything`, async () => {
    await using door = await gateBefore(route);
    await door.check("/anything?at=all");
    await door.check("/");
    assert.equal(door.site.count("/robots.txt"), 1);
  });

for (const [name, [route, fails]] of Object.entries<[Route, [string, string]]>({
  "a server error": [status(500), ["robots", "robots_unreachable"]],
  "a server that is overloaded": [status(503), ["robots", "robots_unreachable"]],
  "too many requests": [status(429), ["robots", "robots_unreachable"]],
  "a broken connection": [resetAtOnce, ["network", "connection_reset"]],
  "a redirect that never ends": [sendTo("/robots.txt"), ["robots", "robots_unreachable"]],
}))
  test(`${name}: nothing is allowed until it can be read, and that is asked again after a while`, async () => {
    await using door = await gateBefore(route);
    const { code, reason, retryAfterMs } = await failureOf(door.check("/p"));
    assert.deepEqual([code, reason, retryAfterMs], [...fails, 30_000]);
    door.site.on("/robots.txt", FORBIDS);
    await door.clock.advance(29_000);
    assert.equal((await failureOf(door.check("/p"))).retryAfterMs, 1000);
    await door.clock.advance(1000);
    await door.check("/p");
    assert.equal(await door.reason("/for-others"), "robots_disallowed");
  });

test("a server that stays broken is asked less and less often, however many pages want to know", async () => {
  await using door = await gateBefore(status(500));
  const asked: number[] = [];
  for (let second = 0; second < 1200; second += 10) {
    const before = door.site.count("/robots.txt");
    await Promise.all(Array.from({ length: 5 }, () => door.reason("/p")));
    if (door.site.count("/robots.txt") > before) asked.push(second);
    await door.clock.advance(10_000);
  }
  assert.deepEqual(asked, [0, 30, 90, 210, 450, 750, 1050]);
  assert.equal(door.site.count("/robots.txt"), asked.length);
  door.site.on("/robots.txt", FORBIDS);
  await door.clock.advance(300_000);
  await door.check("/p");
  // A good answer forgives.
  await door.clock.advance(40 * DAY);
  door.site.on("/robots.txt", status(500));
  assert.equal((await failureOf(door.check("/p"))).retryAfterMs, 30_000);
});

test("a robots.txt that asks to come back later is asked for later [slow]", async () => {
  for (const [code, asked, waits, says] of [
    [429, "120", 120_000, "http_too_many_requests"],
    [503, "120", 120_000, "http_unavailable"],
    [503, "1", 30_000, "http_unavailable"],
    [429, "999999", 3_600_000, "http_too_many_requests"],
    [500, "120", 120_000, "robots_unreachable"],
  ] as const) {
    await using door = await gateBefore(status(code, { "retry-after": asked }));
    const { reason, retryAfterMs } = await failureOf(door.check("/p"));
    assert.deepEqual([reason, retryAfterMs], [says, waits]);
    door.site.on("/robots.txt", FORBIDS);
    await door.clock.advance(waits - 1);
    assert.equal(await door.reason("/p"), says, "as a page's answer that asks for patience");
    await door.clock.advance(1);
    await door.check("/p");
  }
});

test("a site that cannot be asked any more keeps the rules it had", async () => {
  await using door = await gateBefore(FORBIDS);
  await door.check("/p");
  await door.clock.advance(DAY + 1);
  for (const route of [status(500), resetAtOnce, status(429)]) {
    door.site.on("/robots.txt", route);
    await door.check("/p");
    const asked = door.site.count("/robots.txt");
    assert.equal(await door.reason("/for-others"), "robots_disallowed");
    assert.equal(door.site.count("/robots.txt"), asked);
    await door.clock.advance(300_000);
  }
  door.site.on("/robots.txt", status(404));
  await door.check("/for-others");
});

test("of an origin whose rules are not known, nothing is said before they are asked for", async () => {
  await using door = await gateBefore(FORBIDS);
  assert.equal(door.mayFollow("/p"), null);
  await door.check("/p");
  assert.deepEqual([door.mayFollow("/p"), door.mayFollow("/for-others")], [true, false]);
  await door.clock.advance(DAY);
  assert.equal(door.mayFollow("/p"), null, "what it said yesterday");
  door.site.on("/robots.txt", status(500));
  await door.check("/p");
  assert.deepEqual(
    [door.mayFollow("/p"), door.mayFollow("/for-others")],
    [true, false],
    "as long as it cannot be asked",
  );
});

test("a restart asks nobody again", async () => {
  await using door = await gateBefore(FORBIDS);
  await door.check("/p");
  await door.restart();
  await door.check("/p");
  assert.equal(await door.reason("/for-others"), "robots_disallowed");
  assert.equal(door.site.count("/robots.txt"), 1);
  await door.clock.advance(DAY);
  await door.check("/p");
  assert.equal(door.site.count("/robots.txt"), 2);
});

test("that there is no robots.txt is known after a restart, too", async () => {
  await using door = await gateBefore(null);
  await door.check("/p");
  await door.restart();
  await door.check("/p");
  assert.equal(door.site.count("/robots.txt"), 1);
});

for (const [name, route] of Object.entries<Route>({
  "a server error": status(500),
  "too many requests": status(429),
  "a broken connection": resetAtOnce,
}))
  test(`${name} after a restart: the last good copy holds for a month, then nothing is allowed`, async () => {
    await using door = await gateBefore(FORBIDS);
    await door.check("/p");
    door.site.on("/robots.txt", route);
    await door.clock.advance(3 * DAY);
    await door.restart();
    await door.check("/p");
    assert.equal(await door.reason("/for-others"), "robots_disallowed");
    await door.clock.advance(28 * DAY);
    await door.restart();
    assert.equal(await door.reason("/p"), name === "a broken connection" ? "connection_reset" : "robots_unreachable");
  });

test("a clock that was set back does not make a copy last longer", async () => {
  await using door = await gateBefore(FORBIDS);
  await door.check("/p");
  door.clock.jump(-10 * DAY);
  await door.check("/p");
  assert.equal(door.site.count("/robots.txt"), 2);
});

test("the delay that it asks for is told with every page, kept with the site, and gone when it asks no more", async () => {
  await using door = await gateBefore(robots("User-agent: *\nCrawl-delay: 2.5\n"));
  const recorded = async () => (await door.store.site(door.site.name))?.crawlDelayMs;
  await door.store.setSite(door.site.name, {});
  assert.deepEqual([await door.check("/p"), await door.check("/q"), await recorded()], [2500, 2500, 2500]);
  await door.restart();
  assert.equal(await recorded(), 2500);
  assert.equal(await door.check("/p"), 2500);
  await door.clock.advance(DAY);
  door.site.on("/robots.txt", robots("User-agent: *\n"));
  assert.deepEqual([await door.check("/p"), await recorded()], [0, null]);
});

test("at most thirty seconds are waited for, and what is meant for others is not", async () => {
  await using long = await gateBefore(robots("User-agent: *\nCrawl-delay: 3600\n"));
  assert.equal(await long.check("/p"), 30_000);
  await using other = await gateBefore(robots("User-agent: *\nCrawl-delay: 9\n\nUser-agent: orb-test\nDisallow: /x\n"));
  assert.equal(await other.check("/p"), 0);
});

test("of a long file 500 KiB count, also of one that never ends [slow]", async () => {
  const line = "Disallow: /a-path-that-nobody-asks-for\n";
  const many = line.repeat(Math.ceil((500 * 1024) / line.length));
  await using door = await gateBefore(robots(`User-agent: *\nDisallow: /early\n${many}${many}Disallow: /\n`));
  await door.check("/p");
  assert.equal(await door.reason("/early"), "robots_disallowed");
  await door.restart();
  await door.check("/p");
  assert.equal(await door.reason("/early"), "robots_disallowed");
  const endless: Route = (_visit, response, site) => {
    response.write("User-agent: *\nDisallow: /early\n");
    const more = () => {
      if (response.destroyed) return;
      response.write(many);
      site.after(1, more);
    };
    more();
  };
  await using bottomless = await gateBefore(endless);
  await bottomless.check("/p");
  assert.equal(await bottomless.reason("/early"), "robots_disallowed");
  await bottomless.site.when(() => bottomless.site.open === 0, "the rest is not read");
});

for (const count of [1, 5, 10])
  test(`${count === 1 ? "one redirect is" : `${count} redirects are`} followed`, async () => {
    await using door = await gateBefore(sendTo("/hop-1"));
    for (let hop = 1; hop < count; hop += 1) door.site.on(`/hop-${hop}`, sendTo(`/hop-${hop + 1}`, 301));
    door.site.on(`/hop-${count}`, FORBIDS);
    await door.check("/p");
    assert.equal(await door.reason("/for-others"), "robots_disallowed");
  });

test("a redirect is followed, also to another origin, and counts for the one that was asked about", async () => {
  await using elsewhere = await MisbehavingSite.start({ "/rules": robots("User-agent: *\nDisallow: /\n") });
  await using door = await gateBefore(sendTo(elsewhere.url("/rules")));
  assert.equal((await failureOf(door.check("/p"))).reason, "robots_disallowed");
});

test("the sitemaps that robots.txt names are known with its rules; a site that cannot be asked names none", async () => {
  await using door = await gateBefore(robots("Sitemap: https://a.example/map.xml\nUser-agent: *\nDisallow: /p\n"));
  assert.deepEqual(await door.sitemaps(), ["https://a.example/map.xml"]);
  assert.equal((await failureOf(door.check("/p"))).reason, "robots_disallowed");
  assert.equal(door.site.count("/robots.txt"), 1);
  await using broken = await gateBefore(status(500));
  assert.equal((await failureOf(broken.sitemaps())).reason, "robots_unreachable");
});

test("whoever is called off leaves at once, the others get their answer", async () => {
  const answer = Promise.withResolvers<void>();
  await using door = await gateBefore(held(answer.promise, FORBIDS));
  const impatient = new AbortController();
  const leaving = door.check("/p", impatient.signal);
  const staying = door.check("/for-others");
  await door.site.visited("/robots.txt");
  impatient.abort(new Error("called off"));
  await assert.rejects(leaving, /called off/);
  answer.resolve();
  assert.equal((await failureOf(staying)).reason, "robots_disallowed");
  assert.equal(door.site.count("/robots.txt"), 1);
});

test("when all are called off the question is dropped, and the next page asks anew", async () => {
  await using door = await gateBefore(hang);
  const stop = new AbortController();
  const leaving = [door.check("/a", stop.signal), door.check("/b", stop.signal)];
  await door.site.visited("/robots.txt");
  stop.abort(new Error("called off"));
  for (const one of leaving) await assert.rejects(one, /called off/);
  await door.site.when(() => door.site.open === 0, "the request is dropped");
  await assert.rejects(door.check("/c", stop.signal), /called off/);
  door.site.on("/robots.txt", FORBIDS);
  await door.check("/d");
  assert.equal(door.site.count("/robots.txt"), 2);
});
