import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { article, emptyApplication, html, page, product, rendered, status } from "../support/misbehaviours.ts";
import { evidenceOf, TestServer, told } from "./kit.ts";

describe("how a page is got without a browser", () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  test("a plain page costs exactly one request, and says so", async () => {
    await using site = await MisbehavingSite.start({ "/": article("Webs at night") });
    const run = await server.run({ target_url: site.url("/") });
    assert.equal(run.status, "completed", run.error_message ?? "");
    assert.equal(site.visits.length, 1);
    assert.deepEqual([run.requested_strategy, run.resolved_strategy, run.attempt], ["auto", "http", 1]);
    assert.deepEqual(evidenceOf(run), {
      rule: "probe",
      because: "a plain request returned the page",
      http_status: 200,
    });
    const events = await server.events(run.id);
    assert.deepEqual(told(events), ["Run created", "Run started", "Strategy resolved", "Run completed"]);
    assert.deepEqual(events[2]?.meta["evidence"], run.strategy_evidence);
    assert.deepEqual(
      [run.stats["http_status"], run.stats["title"], run.stats["strategy"], run.stats["final_url"]],
      [200, "Webs at night", "http", site.url("/")],
    );
    const [result, ...more] = await server.results(run.id);
    assert.equal(more.length, 0);
    assert.equal(result?.data["title"], "Webs at night");
    assert.equal(result?.data["author"], "A. Weaver");
    assert.match(String(result?.data["markdown"]), /mends its web at night/);
  });

  test("a product's price comes from what the shop tells search engines", async () => {
    await using site = await MisbehavingSite.start({ "/p": product("Silk", "12.50") });
    const run = await server.run({ target_url: site.url("/p"), fields: ["title", "price", "currency"] });
    assert.equal(run.status, "completed", run.error_message ?? "");
    const [result] = await server.results(run.id);
    assert.deepEqual([result?.data["price"], result?.data["currency"]], [12.5, "EUR"]);
  });

  test("an explicit http is never probed and never asks a second time", async () => {
    await using site = await MisbehavingSite.start({ "/": page("Plain") });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    assert.deepEqual([run.status, run.resolved_strategy, site.visits.length], ["completed", "http", 1]);
    assert.equal(evidenceOf(run).rule, "explicit");
  });

  test("http without escalation takes an empty application as it comes", async () => {
    await using site = await MisbehavingSite.start({ "/": emptyApplication });
    const run = await server.run({ target_url: site.url("/"), strategy: "http", escalate: false, fields: ["title"] });
    assert.deepEqual([run.status, run.resolved_strategy, site.visits.length], ["completed", "http", 1]);
  });

  test("http without escalation that is refused fails as blocked, by the same way each time", async () => {
    await using site = await MisbehavingSite.start({ "/": status(403) });
    const run = await server.run({ target_url: site.url("/"), strategy: "http", escalate: false, max_attempts: 2 });
    assert.deepEqual([run.status, run.failure_code, run.failure_reason], ["failed", "blocked", "http_forbidden"]);
    assert.deepEqual([site.count("/"), run.attempt, run.resolved_strategy], [2, 2, "http"]);
    assert.equal(run.stats["http_status"], 403, "a failed run has its figures, too");
    const { attempts } = await server.task(run.id);
    assert.deepEqual(
      attempts.map(({ attempt, strategy, http_status, failure_code, failure_reason, proxy }) => [
        attempt,
        strategy,
        http_status,
        failure_code,
        failure_reason,
        proxy,
      ]),
      [
        [1, "http", 403, "blocked", "http_forbidden", null],
        [2, "http", 403, "blocked", "http_forbidden", null],
      ],
    );
    assert.deepEqual(told(await server.events(run.id)), [
      "Run created",
      "Run started",
      "Strategy resolved",
      "Retry scheduled",
      "Run failed",
    ]);
  });

  test("a page that must have a field and has it not fails by the field's name, without a second try", async () => {
    await using site = await MisbehavingSite.start({ "/": html("<title>Bare</title><h1>Bare</h1>") });
    const run = await server.run({
      target_url: site.url("/"),
      strategy: "http",
      fields: { price: { css: ".price", type: "number", required: true } },
    });
    assert.deepEqual([run.status, run.failure_code, run.failure_reason], ["failed", "extraction", "field_missing"]);
    assert.match(run.error_message ?? "", /price/);
    assert.equal(site.visits.length, 1);
    assert.deepEqual(await server.results(run.id), []);
  });

  test("where no browser is to be had, a page that needs one says how to get one [slow]", async () => {
    await using other = await TestServer.open({ APP_BROWSER_PATH: "/nowhere/chromium" });
    await using site = await MisbehavingSite.start({ "/": rendered("App") });
    const run = await other.run({ target_url: site.url("/") });
    assert.deepEqual([run.status, run.failure_code, run.failure_reason], ["failed", "unknown", "browser_missing"]);
    assert.match(run.error_message ?? "", /APP_BROWSER_PATH/);
    assert.equal(site.visits.length, 1, "the probe alone");
    assert.equal(evidenceOf(run).rule, "probe");
  });
});
