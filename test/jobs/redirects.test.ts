import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { RunView } from "../../src/orchestrator/runs/view.ts";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, json, page, sendTo, status } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";
import { PATIENCE_MS } from "../support/patience.ts";

describe("a page that redirects to a site which is to be left alone", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "2" });
  });
  after(() => server[Symbol.asyncDispose]());

  const tell = async (site: MisbehavingSite, what: string) => {
    const answer = await server.api.post(`/sites/${encodeURIComponent(site.name)}/${what}`);
    assert.equal(answer.status, 200, answer.text);
  };
  const set = (site: MisbehavingSite, change: object) =>
    server.api.call("PATCH", `/sites/${encodeURIComponent(site.name)}`, change);

  /** Until the run says what it waits for. */
  async function waits(id: string, at = server): Promise<NonNullable<RunView["waiting_for"]>> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const run = await at.show(id);
      if (run.waiting_for !== null) return run.waiting_for;
      assert.ok(Date.now() < giveUpAt && run.finished_at === null, `it does not wait: ${JSON.stringify(run)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test("waits there until that is resumed, and goes on where it was, without what was meant for the first", async () => {
    await using there = await MisbehavingSite.start({ "/b": sendTo("/c"), "/c": page("Moved here") });
    await using here = await MisbehavingSite.start({ "/": sendTo("/a", 301), "/a": sendTo(there.url("/b")) });
    const { id: session_id } = await server.session({
      origin: new URL(here.url("/")).origin,
      cookies: [{ name: "who", value: "me" }],
    } as never);
    await tell(there, "pause");
    const { id } = await server.begin({
      target_url: here.url("/"),
      fields: { heading: { css: "h1" } },
      headers: { "x-api-key": "only-here" },
      session_id,
    });
    const { reason, message } = await waits(id);
    assert.equal(reason, "site_paused");
    assert.match(message, new RegExp(there.name.replaceAll(".", "\\.")));
    assert.deepEqual([here.count("/"), here.count("/a"), there.visits.length], [1, 1, 0]);
    await tell(there, "resume");
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.url, run.attempt], ["completed", here.url("/"), 1], run.error_message ?? "");
    assert.deepEqual(run.stats["redirects"], [here.url("/"), here.url("/a"), there.url("/b")]);
    assert.equal(run.stats["final_url"], there.url("/c"));
    assert.equal((await server.results(id))[0]?.data["heading"], "Moved here");
    assert.equal(here.count("/"), 1);
    for (const { headers } of there.visits)
      assert.deepEqual([headers["x-api-key"], headers["cookie"]], [undefined, undefined]);
    const { attempts } = await server.task(id);
    assert.deepEqual(
      attempts.map(({ http_status, failure_code }) => [http_status, failure_code]),
      [
        [302, null],
        [200, null],
      ],
    );
  });

  test("a site of the same group that is paused keeps it, too", async () => {
    await using there = await MisbehavingSite.start({ "/": page("Moved here") });
    await using sibling = await MisbehavingSite.start({});
    await using here = await MisbehavingSite.start({ "/": sendTo(there.url("/")) });
    for (const site of [there, sibling]) await set(site, { group: "one-server" });
    await tell(sibling, "pause");
    const { id } = await server.begin({ target_url: here.url("/") });
    assert.equal((await waits(id)).reason, "site_paused");
    assert.equal(there.visits.length, 0);
    await tell(sibling, "resume");
    assert.equal((await server.ended(id)).status, "completed");
  });

  test("one that has asked for patience is not asked sooner [slow]", async () => {
    await using there = await MisbehavingSite.start({
      "/busy": status(429, { "retry-after": "12" }),
      "/": page("There"),
    });
    await using here = await MisbehavingSite.start({ "/": sendTo(there.url("/")) });
    const busy = await server.begin({ target_url: there.url("/busy") });
    await server.said(busy.id, /^Site rate limited/);
    const { id } = await server.begin({ target_url: here.url("/") });
    assert.equal((await waits(id)).reason, "rate_limited");
    assert.equal(there.count("/"), 0);
    await server.api.post(`/jobs/runs/${busy.id}/cancel`);
    assert.equal((await server.ended(id)).status, "completed");
    const [first] = there.visits;
    assert.ok(there.visits.find(({ path }) => path === "/")!.at - first!.at >= 11_900);
  });

  test("one whose breaker is open is left alone until that is reset [slow]", async () => {
    await using careful = await TestServer.open({ APP_BREAKER_FAILURES: "1" });
    await using there = await MisbehavingSite.start({ "/broken": status(500), "/": page("There") });
    await using here = await MisbehavingSite.start({ "/": sendTo(there.url("/")) });
    await careful.run({ target_url: there.url("/broken"), max_attempts: 1 });
    const { id } = await careful.begin({ target_url: here.url("/") });
    assert.equal((await waits(id, careful)).reason, "circuit_open");
    assert.equal(there.count("/"), 0);
    await careful.api.post(`/sites/${encodeURIComponent(there.name)}/reset-breaker`);
    assert.equal((await careful.ended(id)).status, "completed");
  });

  test("a sign-in page of another site is still told as one", async () => {
    await using there = await MisbehavingSite.start({
      "/login": html(`<form><input type="password"></form><p>Hi</p>`),
    });
    await using here = await MisbehavingSite.start({ "/": sendTo(there.url("/login")) });
    const run = await server.run({ target_url: here.url("/"), fields: { p: "p" } });
    assert.equal(run.status, "completed");
    assert.match(JSON.stringify(run.stats["warnings"]), /asks for a password/);
  });

  test("a call of an API that leads there is made when it may be followed", async () => {
    await using there = await MisbehavingSite.start({ "/api": json([{ a: 1 }]) });
    await using here = await MisbehavingSite.start({ "/api": sendTo(there.url("/api")) });
    await tell(there, "pause");
    const replay = { request: { url: here.url("/api") } };
    const { id } = await server.begin({ target_url: here.url("/"), strategy: "api_replay", replay });
    assert.equal((await waits(id)).reason, "site_paused");
    await server.said(id, /^Waiting/);
    assert.deepEqual([here.count("/api"), there.visits.length], [1, 0]);
    await tell(there, "resume");
    assert.equal((await server.ended(id)).status, "completed");
    assert.equal((await server.show(id)).waiting_for, null);
    assert.deepEqual([here.count("/api"), there.count("/api")], [2, 1]);
  });

  for (const [how, route] of [
    ["a redirect", (to: string) => sendTo(to)],
    ["a script", (to: string) => html(`<title>Wait</title><script>location.href = ${JSON.stringify(to)}</script>`)],
  ] as const)
    test(`a browser that ${how} leads there comes back when it may be followed`, browserGate, async () => {
      await using there = await MisbehavingSite.start({ "/sign-in": page("Signed in") });
      await using here = await MisbehavingSite.start({ "/": route(there.url("/sign-in")) });
      await tell(there, "pause");
      const { id } = await server.begin({
        target_url: here.url("/"),
        strategy: "browser",
        fields: { heading: { css: "h1" } },
      });
      const { reason, message } = await waits(id);
      assert.equal(reason, "site_paused");
      assert.match(message, new RegExp(there.name.replaceAll(".", "\\.")));
      assert.deepEqual([here.count("/"), there.visits.length], [1, 0]);
      await tell(there, "resume");
      const run = await server.ended(id);
      assert.deepEqual([run.status, run.attempt], ["completed", 1], run.error_message ?? "");
      assert.equal((await server.results(id))[0]?.data["heading"], "Signed in");
      assert.equal((await server.events(id)).filter(({ type }) => type === "task.deferred").length, 1);
    });
});
