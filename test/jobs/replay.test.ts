import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browserGate } from "../support/browser-kit.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { html, json, onlyForBrowsers } from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

const ITEMS = json({ items: [{ a: 1 }, { a: 2 }] });

describe("a replayed call that is blocked", browserGate, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_BROWSER_MAX_PAGES: "2" });
  });
  after(() => server[Symbol.asyncDispose]());

  test("is asked for by a browser, and its records keep their shape", async () => {
    await using site = await MisbehavingSite.start({ "/api": onlyForBrowsers(ITEMS) });
    const replay = { request: { url: site.url("/api") }, items: "$.items[*]" };
    const run = await server.run({ target_url: site.url("/"), strategy: "api_replay", replay });
    assert.deepEqual([run.status, run.resolved_strategy], ["completed", "browser"], JSON.stringify(run));
    const answer = await server.api.get(`/jobs/runs/${run.id}/results`);
    assert.deepEqual(
      answer.json<{ data: unknown }[]>().map(({ data }) => data),
      [{ a: 1 }, { a: 2 }],
    );
  });

  test("fails as blocked where a browser could not go through all its pages", async () => {
    await using site = await MisbehavingSite.start({ "/api": onlyForBrowsers(ITEMS) });
    const pagination = { kind: "page", param: "page", start: 1 };
    const replay = { request: { url: site.url("/api") }, items: "$.items[*]", pagination };
    const run = await server.run({ target_url: site.url("/"), strategy: "api_replay", replay, max_attempts: 2 });
    assert.deepEqual([run.status, run.failure_code, run.resolved_strategy], ["failed", "blocked", "api_replay"]);
  });
});

describe("a site that says a lot of itself", () => {
  test("does not decide how large runs, events and lists are [slow]", async () => {
    await using server = await TestServer.open();
    const type = `text/html; x="${"y".repeat(5000)}"`;
    await using site = await MisbehavingSite.start({
      "/": html(`<title>${"t".repeat(2_000_000)}</title><p>words</p>`, 200, { "content-type": type }),
    });
    const run = await server.run({ target_url: site.url("/"), fields: { p: "p" } });
    assert.equal(run.status, "completed");
    for (const path of ["", "/events", "/tasks"]) {
      const { text } = await server.api.get(`/jobs/runs/${run.id}${path}`);
      assert.ok(text.length < 20_000, `${path} has ${text.length} characters`);
    }
  });
});
