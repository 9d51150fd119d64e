import assert from "node:assert/strict";
import { test } from "node:test";
import { RobotsGate } from "../../src/sites/robots.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { hang, held, page, resetAtOnce, robots, sendTo, status } from "../support/misbehaviours.ts";
import { failureOf, testClient } from "../support/net.ts";

const DAY = 24 * 3_600_000;
const FORBIDS = robots("User-agent: *\nDisallow: /private\n\nUser-agent: orb-test\nDisallow: /for-others\n");

/** A gate before one site, with a clock that the test moves. */
async function gateBefore(route: Route | null) {
  const site = await MisbehavingSite.start(route === null ? {} : { "/robots.txt": route });
  const http = testClient({ limits: { connectMs: 2000, headersMs: 2000, idleMs: 2000, totalMs: 2000 } });
  const clock = new FakeClock();
  const gate = new RobotsGate({ http, clock, productToken: "orb-test" });
  return {
    site,
    clock,
    sitemaps: () => gate.sitemaps(site.origin, new AbortController().signal),
    check: (path: string, signal = new AbortController().signal) => gate.check(site.url(path), signal),
    [Symbol.asyncDispose]: async () => {
      await http[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
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

for (const [name, route] of Object.entries<Route>({
  "a server error": status(500),
  "a server that is overloaded": status(503),
  "too many requests": status(429),
  "a broken connection": resetAtOnce,
  "a redirect that never ends": sendTo("/robots.txt"),
}))
  test(`${name}: nothing is allowed until it can be read, and the next page asks again`, async () => {
    await using door = await gateBefore(route);
    const { code, reason } = await failureOf(door.check("/p"));
    assert.deepEqual([code, reason], ["robots", "robots_unreachable"]);
    door.site.on("/robots.txt", FORBIDS);
    await door.check("/p");
    assert.equal((await failureOf(door.check("/for-others"))).reason, "robots_disallowed");
  });

test("a site that cannot be asked any more keeps the rules it had", async () => {
  await using door = await gateBefore(FORBIDS);
  await door.check("/p");
  await door.clock.advance(DAY + 1);
  for (const route of [status(500), resetAtOnce, status(429)]) {
    door.site.on("/robots.txt", route);
    await door.check("/p");
    assert.equal((await failureOf(door.check("/for-others"))).reason, "robots_disallowed");
  }
  door.site.on("/robots.txt", status(404));
  await door.check("/for-others");
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
