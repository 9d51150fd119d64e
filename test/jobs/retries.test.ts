import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { firstTimes, page, status, tooMany } from "../support/misbehaviours.ts";
import { TestServer, told } from "./kit.ts";

const BASE_MS = 50;
const MAX_MS = 1500;

describe("pages that fail and are tried again", { concurrency: 4 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open({ APP_RATE_LIMIT_MAX_WAITS: "3" });
  });
  after(() => server[Symbol.asyncDispose]());

  test("a server that fails twice is asked three times, each wait three times as long", async () => {
    await using site = await MisbehavingSite.start({ "/": firstTimes(2, status(500), page("Fine again")) });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    assert.deepEqual([run.status, run.attempt, run.failure_code], ["completed", 3, null]);
    assert.equal(site.count("/"), 3);
    const retries = (await server.events(run.id)).filter(({ message }) => message.startsWith("Retry scheduled"));
    assert.deepEqual(
      retries.map(({ meta }) => [meta["attempt"], meta["failure_code"], meta["failure_reason"], meta["strategy"]]),
      [
        [2, "bad_response", "http_server_error", "http"],
        [3, "bad_response", "http_server_error", "http"],
      ],
    );
    for (const [index, { meta }] of retries.entries()) {
      const least = BASE_MS * 3 ** index;
      const delay = Number(meta["delay_ms"]);
      assert.ok(delay >= least && delay <= Math.round(least * 1.1), `${delay} ms after attempt ${index + 1}`);
      const [before, next] = site.of("/").slice(index, index + 2);
      assert.ok(next!.at - before!.at >= delay - 1, "it waited so long");
    }
    const { attempts } = await server.task(run.id);
    assert.deepEqual(
      attempts.map(({ attempt, http_status, failure_reason }) => [attempt, http_status, failure_reason]),
      [
        [1, 500, "http_server_error"],
        [2, 500, "http_server_error"],
        [3, 200, null],
      ],
    );
    assert.deepEqual(
      attempts.map(({ started_at }) => started_at),
      attempts.map(({ started_at }) => started_at).toSorted(),
    );
  });

  test("a server that always fails ends the run after its last attempt", async () => {
    await using site = await MisbehavingSite.start({ "/": status(500) });
    const run = await server.run({ target_url: site.url("/"), strategy: "http", max_attempts: 4 });
    assert.deepEqual([run.status, run.attempt, run.max_attempts], ["failed", 4, 4]);
    assert.deepEqual([run.failure_code, run.failure_reason], ["bad_response", "http_server_error"]);
    assert.equal(site.count("/"), 4);
    const events = await server.events(run.id);
    assert.deepEqual(told(events), [
      "Run created",
      "Run started",
      "Strategy resolved",
      "Retry scheduled",
      "Retry scheduled",
      "Retry scheduled",
      "Run failed",
    ]);
    assert.equal(events.at(-1)?.level, "error");
    const waits = events.flatMap(({ meta }) => (meta["delay_ms"] === undefined ? [] : [Number(meta["delay_ms"])]));
    assert.ok(waits[2]! >= BASE_MS * 9 && waits[2]! <= MAX_MS, String(waits));
  });

  for (const code of [404, 410])
    test(`${code} is an answer, and final`, async () => {
      await using site = await MisbehavingSite.start({ "/": status(code) });
      const run = await server.run({ target_url: site.url("/") });
      assert.deepEqual(
        [run.status, run.failure_code, run.failure_reason],
        ["failed", "bad_response", "http_not_found"],
      );
      assert.deepEqual([site.count("/"), run.attempt, run.stats["http_status"]], [1, 1, code]);
    });

  test("Retry-After of a failing server is waited out when it is the longer wait", async () => {
    await using site = await MisbehavingSite.start({
      "/": firstTimes(1, status(500, { "retry-after": "1" }), page("Fine again")),
    });
    const run = await server.run({ target_url: site.url("/"), strategy: "http" });
    assert.deepEqual([run.status, run.attempt], ["completed", 2]);
    const [first, second] = site.of("/");
    assert.ok(second!.at - first!.at >= 999, `${second!.at - first!.at} ms`);
  });

  test("429 with Retry-After holds the whole site so long, and burns no attempt", async () => {
    await using site = await MisbehavingSite.start({
      "/a": firstTimes(1, tooMany("1"), page("A")),
      "/b": page("B"),
    });
    const a = await server.begin({ target_url: site.url("/a"), max_attempts: 1 });
    await server.said(a.id, /^Rate limited/);
    const b = await server.begin({ target_url: site.url("/b") });
    const [first, second] = await Promise.all([server.ended(a.id), server.ended(b.id)]);
    assert.deepEqual([first.status, first.attempt, second.status], ["completed", 1, "completed"]);
    const begun = site.of("/a")[0]!.at;
    for (const visit of site.visits.slice(1))
      assert.ok(visit.at - begun >= 999, `${visit.path} was asked for ${visit.at - begun} ms after the answer`);
    const { attempts } = await server.task(a.id);
    assert.deepEqual(
      attempts.map(({ failure_reason }) => failure_reason),
      ["http_too_many_requests", null],
    );
  });

  test("429 without Retry-After is waited out as often as allowed, then the run fails as rate_limited", async () => {
    await using site = await MisbehavingSite.start({ "/": tooMany() });
    const run = await server.run({ target_url: site.url("/"), max_attempts: 1 });
    assert.deepEqual(
      [run.status, run.failure_code, run.failure_reason],
      ["failed", "rate_limited", "http_too_many_requests"],
    );
    assert.equal(site.count("/"), 4, "the first and three after a wait");
    const story = told(await server.events(run.id));
    assert.equal(story.filter((line) => line === "Rate limited").length, 3, String(story));
    assert.equal(story.at(-1), "Run failed");
  });

  test("503 with Retry-After is a rate limit, without it a failure that costs an attempt", async () => {
    await using site = await MisbehavingSite.start({
      "/asks": firstTimes(1, status(503, { "retry-after": "0" }), page("Fine again")),
      "/fails": firstTimes(1, status(503), page("Fine again")),
    });
    const asks = await server.run({ target_url: site.url("/asks"), strategy: "http", max_attempts: 1 });
    assert.deepEqual([asks.status, asks.attempt], ["completed", 1]);
    const fails = await server.run({ target_url: site.url("/fails"), strategy: "http" });
    assert.deepEqual([fails.status, fails.attempt], ["completed", 2]);
  });

  test("a Retry-After beyond what is allowed fails the page at once and says how long it was", async () => {
    await using site = await MisbehavingSite.start({ "/": tooMany("86400") });
    const run = await server.run({ target_url: site.url("/") });
    assert.deepEqual(
      [run.status, run.failure_code, run.failure_reason],
      ["failed", "rate_limited", "retry_after_too_long"],
    );
    assert.match(run.error_message ?? "", /86400/);
    assert.equal(site.count("/"), 1);
  });
});

test("a site that keeps failing is left alone, and a run that waits for it can be cancelled", async () => {
  await using server = await TestServer.open({ APP_BREAKER_FAILURES: "1", APP_BREAKER_COOLDOWN_SECONDS: "600" });
  await using site = await MisbehavingSite.start({ "/": status(500) });
  const { id } = await server.begin({ target_url: site.url("/"), strategy: "http", max_attempts: 5 });
  await server.said(id, /^Circuit opened/);
  assert.equal(site.count("/"), 1);
  const cancelled = await server.api.post(`/jobs/runs/${id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.json<{ status: string }>().status], [200, "cancelled"]);
  assert.equal((await server.ended(id)).status, "cancelled");
});

test("a site that fails each time it is given another chance is given up: the run fails as circuit_open [slow]", async () => {
  const env = { APP_BREAKER_FAILURES: "1", APP_BREAKER_COOLDOWN_SECONDS: "0.5", APP_RETRY_MAX_SECONDS: "0.05" };
  await using server = await TestServer.open(env);
  await using site = await MisbehavingSite.start({ "/": status(500) });
  const run = await server.run({ target_url: site.url("/"), strategy: "http", max_attempts: 1000 });
  assert.deepEqual([run.status, run.failure_code, run.failure_reason], ["failed", "circuit_open", "breaker_open"]);
  const other = await server.run({ target_url: site.url("/"), strategy: "http", max_attempts: 1000 });
  assert.equal(other.failure_code, "circuit_open", "so do others of the site");
  site.on("/", page("Fine again"));
  assert.equal((await server.api.post(`/sites/${site.name}/reset-breaker`)).status, 200);
  assert.equal((await server.api.post(`/jobs/runs/${run.id}/retry-failed`)).status, 200);
  assert.equal((await server.ended(run.id)).status, "completed");
});
