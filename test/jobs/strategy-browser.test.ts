import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import {
  challenge,
  emptyApplication,
  endlessScript,
  held,
  html,
  json,
  onlyForBrowsers,
  page,
  rendered,
  renderedAfter,
  robots,
  sendTo,
  status,
  tooMany,
} from "../support/misbehaviours.ts";
import { evidenceOf, TestServer, told } from "./kit.ts";

describe("how a page is got that needs a browser", { ...browserGate, concurrency: 3 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "3" });
  });
  after(() => server[Symbol.asyncDispose]());

  test("auto: an empty shell is opened in a browser in the same attempt", async () => {
    await using site = await MisbehavingSite.start({ "/": rendered("Application") });
    const run = await server.run({ target_url: site.url("/"), fields: { heading: { css: "h1" } } });
    assert.equal(run.status, "completed", run.error_message ?? "");
    assert.deepEqual([run.resolved_strategy, run.attempt, run.stats["strategy"]], ["browser", 1, "browser"]);
    assert.deepEqual(
      site.visits.map(({ byBrowser }) => byBrowser),
      [false, true],
      "one probe, one page",
    );
    const { rule, http_status, sign } = evidenceOf(run);
    assert.deepEqual([rule, http_status, sign], ["probe", 200, "empty_root"]);
    assert.deepEqual(told(await server.events(run.id)), [
      "Run created",
      "Run started",
      "Strategy resolved",
      "Run completed",
    ]);
    assert.deepEqual((await server.results(run.id))[0]?.data, { heading: "Application" });
    const [attempt, ...more] = (await server.task(run.id)).attempts;
    assert.deepEqual([attempt?.strategy, more.length], ["browser", 0]);
  });

  for (const code of [401, 403])
    test(`auto: a plain client's ${code} leads to a browser in the same attempt`, async () => {
      await using site = await MisbehavingSite.start({ "/": onlyForBrowsers(page("For people"), status(code)) });
      const run = await server.run({ target_url: site.url("/") });
      assert.deepEqual([run.status, run.resolved_strategy, run.attempt], ["completed", "browser", 1]);
      assert.equal(evidenceOf(run).http_status, code);
      assert.equal(site.count("/"), 2);
    });

  test("explicit http that meets a block goes on in a browser at the next attempt, and never back", async () => {
    await using site = await MisbehavingSite.start({
      "/": onlyForBrowsers(async (visit, response, own) =>
        (visit.nth === 2 ? status(500) : page("At last"))(visit, response, own),
      ),
    });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    assert.deepEqual([run.status, run.resolved_strategy, run.attempt], ["completed", "browser", 3]);
    assert.equal(evidenceOf(run).rule, "escalated");
    assert.deepEqual(
      site.visits.map(({ byBrowser }) => byBrowser),
      [false, true, true],
    );
    assert.deepEqual(told(await server.events(run.id)), [
      "Run created",
      "Run started",
      "Strategy resolved",
      "Escalated to browser",
      "Retry scheduled",
      "Strategy resolved",
      "Retry scheduled",
      "Run completed",
    ]);
    assert.deepEqual(
      (await server.task(run.id)).attempts.map(({ strategy, failure_reason }) => [strategy, failure_reason]),
      [
        ["http", "http_forbidden"],
        ["browser", "http_server_error"],
        ["browser", null],
      ],
    );
  });

  test("explicit http that meets an empty shell escalates as well", async () => {
    await using site = await MisbehavingSite.start({ "/": rendered("Application") });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    assert.deepEqual([run.status, run.resolved_strategy, run.attempt], ["completed", "browser", 2]);
    const [first] = (await server.task(run.id)).attempts;
    assert.deepEqual([first?.failure_code, first?.failure_reason], ["blocked", "empty_shell"]);
  });

  test("an explicit browser sends no probe", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Plain") });
    const run = await server.run({ target_url: site.url("/"), strategy: "browser" });
    assert.deepEqual([run.status, run.resolved_strategy], ["completed", "browser"]);
    assert.equal(evidenceOf(run).rule, "explicit");
    assert.deepEqual(
      site.visits.map(({ byBrowser }) => byBrowser),
      [true],
    );
  });

  test("what was learned of a page is believed the next time, and forgotten when it is reset [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/a": rendered("A"), "/b": page("B") });
    const { id } = await server.job({ target_url: site.url("/a") });
    await server.run(id);
    assert.equal(site.count("/a"), 2);
    const second = await server.run(id);
    assert.deepEqual([second.resolved_strategy, evidenceOf(second).rule], ["browser", "learned"]);
    assert.equal(site.count("/a"), 3, "no probe");
    assert.ok(Date.parse(evidenceOf(second).expires_at ?? "") > Date.now(), "and it says until when");
    const plain = await server.run({ target_url: site.url("/b") });
    assert.equal(plain.resolved_strategy, "http", "one page says nothing about the others");
    const shown = (await server.api.get(`/sites/${site.name}`)).json<{ learned_strategy: { scope: string } | null }>();
    assert.equal(shown.learned_strategy?.scope, "page");
    const reset = await server.api.call("DELETE", `/sites/${site.name}/learned-strategy`);
    assert.equal(reset.status, 200, reset.text);
    assert.equal(reset.json<{ learned_strategy: unknown }>().learned_strategy, null);
    assert.equal(evidenceOf(await server.run(id)).rule, "probe");
    assert.equal(site.count("/a"), 5);
  });

  test("a site of which several pages needed a browser is not probed any more [slow]", async () => {
    await using site = await MisbehavingSite.start(
      Object.fromEntries(["/a", "/b", "/c", "/d"].map((path) => [path, rendered(path)])),
    );
    for (const path of ["/a", "/b", "/c"]) await server.run({ target_url: site.url(path) });
    const run = await server.run({ target_url: site.url("/d") });
    assert.deepEqual([evidenceOf(run).rule, site.count("/d")], ["learned", 1]);
  });

  test("pages that were under way together build upon what each of them found [slow]", async () => {
    const paths = ["/a", "/b", "/c"];
    const gates = paths.map(() => Promise.withResolvers<void>());
    await using site = await MisbehavingSite.start({ "/d": rendered("/d") });
    for (const [index, path] of paths.entries())
      site.on(path, onlyForBrowsers(held(gates[index]!.promise, rendered(path)), rendered(path)));
    const runs = await Promise.all(paths.map((path) => server.begin({ target_url: site.url(path) })));
    for (const path of paths) await site.visited(path, 2);
    for (const [index, { id }] of runs.entries()) {
      gates[index]!.resolve();
      assert.equal((await server.ended(id)).status, "completed");
    }
    const run = await server.run({ target_url: site.url("/d") });
    assert.deepEqual([evidenceOf(run).rule, site.count("/d")], ["learned", 1]);
  });

  test("a challenge that passes by itself costs time, no attempt", async () => {
    await using site = await MisbehavingSite.start({ "/": challenge(600, page("Behind the wall")) });
    const run = await server.run({ target_url: site.url("/") });
    assert.deepEqual([run.status, run.attempt, run.stats["title"]], ["completed", 1, "Behind the wall"]);
    assert.match(evidenceOf(run).sign ?? "", /cloudflare/);
  });

  test("a page that asks for its content, once or several times, is read when it is all there [slow]", async () => {
    await using site = await MisbehavingSite.start({
      "/once": renderedAfter("Once", "/api/1"),
      "/often": renderedAfter("Often", "/api/1", "/api/2", "/api/3"),
      ...Object.fromEntries([1, 2, 3].map((n) => [`/api/${n}`, json({ part: n })])),
    });
    const fields = { parts: { css: ".part", all: true } };
    for (const [path, parts] of [
      ["/once", ['{"part":1}']],
      ["/often", ['{"part":1}', '{"part":2}', '{"part":3}']],
    ] as const) {
      const run = await server.run({ target_url: site.url(path), fields });
      assert.equal(run.status, "completed", run.error_message ?? "");
      assert.deepEqual((await server.results(run.id))[0]?.data, { parts });
    }
  });

  test("requires_auth goes to a browser at once", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Members") });
    const run = await server.run({ target_url: site.url("/"), requires_auth: true, strategy: "http" });
    assert.deepEqual([run.status, run.resolved_strategy, site.count("/")], ["completed", "browser", 1]);
    assert.equal(evidenceOf(run).rule, "requires_auth");
  });

  test("an application that stays empty is read as it is, in a browser", async () => {
    await using site = await MisbehavingSite.start({ "/": emptyApplication });
    const run = await server.run({ target_url: site.url("/"), fields: ["title"] });
    assert.deepEqual([run.status, run.resolved_strategy], ["completed", "browser"]);
  });

  test("a script that never ends costs the page its time and nobody else's [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/": endlessScript, "/fine": rendered("Fine") });
    const stuck = await server.begin({
      target_url: site.url("/"),
      strategy: "browser",
      timeout_seconds: 6,
      max_attempts: 1,
    });
    await site.visited("/");
    const fine = await server.run({ target_url: site.url("/fine"), strategy: "browser" });
    assert.equal(fine.status, "completed", fine.error_message ?? "");
    const run = await server.ended(stuck.id);
    assert.deepEqual([run.status, run.failure_code], ["failed", "timeout"]);
  });

  test("auto: 429 to a plain client holds the site instead of sending a browser", async () => {
    await using site = await MisbehavingSite.start({ "/": tooMany() });
    const { id } = await server.begin({ target_url: site.url("/") });
    await server.said(id, /^Rate limited/);
    site.on("/", page("Now"));
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.resolved_strategy, run.attempt], ["completed", "http", 1]);
    assert.ok(site.visits.every(({ byBrowser }) => !byBrowser));
  });

  for (const [how, lead] of Object.entries<(to: string) => Route>({
    "a redirect": (to) => sendTo(to),
    "a script": (to) => html(`<p>Wait.</p><script>location.href = ${JSON.stringify(to)}</script>`),
  }))
    test(`${how} to an origin whose robots.txt nobody has read is followed in a browser if that one allows it`, async () => {
      const wanted = {
        strategy: "browser",
        respect_robots: true,
        fields: { title: "title" },
        max_attempts: 1,
      } as const;
      for (const [path, title] of [
        ["/private", null],
        ["/open", "Open"],
      ] as const) {
        await using there = await MisbehavingSite.start({ "/open": page("Open"), "/private": page("Private") });
        await using here = await MisbehavingSite.start({ "/": lead(there.url(path)) });
        there.on("/robots.txt", robots("User-agent: *\nDisallow: /private\n"));
        const run = await server.run({ ...wanted, target_url: here.url("/") });
        const got = (await server.results(run.id))[0]?.data as { title?: string } | undefined;
        assert.equal(got?.title ?? null, title, run.error_message ?? "");
        assert.deepEqual([there.count("/robots.txt"), there.count(path)], [1, title === null ? 0 : 1]);
      }
    });
});
