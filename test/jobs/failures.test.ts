import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import {
  dripping,
  gzipBomb,
  hang,
  hops,
  html,
  largerThan,
  lyingCharset,
  notHttp,
  page,
  resetAtOnce,
  resetInTheMiddle,
  robots,
  sendTo,
  shortBody,
  status,
} from "../support/misbehaviours.ts";
import { TestServer } from "./kit.ts";

/** What a site does, and how a run of one attempt then ends: the code, and the reasons that it may have. */
const TABLE: Record<string, [route: Route, code: string, reasons: string]> = {
  "/hang": [hang, "timeout", "timeout_headers, timeout_total"],
  "/drip": [dripping, "timeout", "timeout_total"],
  "/reset": [resetAtOnce, "network", "connection_reset"],
  "/reset-in-the-middle": [resetInTheMiddle, "network", "connection_reset"],
  "/short": [shortBody, "bad_response", "truncated_body"],
  "/not-http": [notHttp, "bad_response", "malformed_response"],
  "/large": [largerThan(300_000), "bad_response", "body_too_large"],
  "/bomb": [gzipBomb(3_000_000), "bad_response", "decompression_limit"],
  "/loop": [sendTo("/loop"), "bad_response", "too_many_redirects"],
  "/nowhere": [sendTo("http://"), "bad_response", "bad_redirect"],
  "/forbidden": [sendTo("http://127.0.0.9:81/"), "forbidden_target", "private_address"],
  "/metadata": [sendTo("http://169.254.169.254/latest/meta-data/"), "forbidden_target", "private_address"],
  "/file-scheme": [sendTo("file:///etc/passwd"), "forbidden_target", "scheme_not_allowed"],
  "/401": [status(401), "blocked", "http_unauthorized"],
  "/403": [status(403), "blocked", "http_forbidden"],
  "/418": [status(418), "bad_response", "http_client_error"],
  "/500": [status(500), "bad_response", "http_server_error"],
  "/picture": [html("\u0089PNG", 200, { "content-type": "image/png" }), "bad_response", "not_html"],
};

describe("what a site does wrong is told by code and reason", { concurrency: 4 }, () => {
  let server: TestServer;
  let site: MisbehavingSite;
  before(async () => {
    server = await TestServer.open({ APP_MAX_BODY_BYTES: "200000" });
    site = await MisbehavingSite.start(
      Object.fromEntries(Object.entries(TABLE).map(([path, [route]]) => [path, route])),
    );
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  for (const [path, [, code, reasons]] of Object.entries(TABLE))
    test(`${path.slice(1)}: ${code}, ${reasons}${code === "timeout" ? " [slow]" : ""}`, async () => {
      const run = await server.run({
        target_url: site.url(path),
        strategy: "http",
        escalate: false,
        max_attempts: 1,
        // Only what never ends is cut short; everything else has all the time that a busy machine takes.
        timeout_seconds: code === "timeout" ? 5 : 120,
      });
      const reason = run.failure_reason ?? "";
      assert.ok(reasons.split(", ").includes(reason), `${reason}: ${run.error_message}`);
      assert.deepEqual(
        [run.status, run.failure_code, run.failure_reason],
        ["failed", code, reason],
        String(run.error_message),
      );
      assert.ok((run.error_message ?? "").length > 10, "it says what happened");
      assert.equal(typeof run.stats["duration_ms"], "number", "figures of failed runs are there");
      const task = await server.task(run.id);
      assert.deepEqual([task.status, task.failure_code, task.failure_reason], ["failed", code, reason]);
      assert.deepEqual(
        task.attempts.map((attempt) => [attempt.attempt, attempt.failure_code, attempt.failure_reason]),
        [[1, code, reason]],
      );
      const last = (await server.events(run.id)).at(-1);
      assert.match(last?.message ?? "", /^Run failed: /);
      assert.deepEqual([last?.meta["failure_code"], last?.meta["failure_reason"]], [code, reason]);
      assert.deepEqual(await server.results(run.id), []);
    });

  test("a connection that nobody takes, and a name that does not exist", async () => {
    const url = "http://127.0.0.1:9/";
    const refused = await server.run({ target_url: url, strategy: "http", max_attempts: 1 });
    assert.deepEqual([refused.failure_code, refused.failure_reason], ["network", "connection_refused"]);
    const nobody = await server.run({ target_url: "http://nobody.invalid/", strategy: "http", max_attempts: 1 });
    assert.deepEqual([nobody.failure_code, nobody.failure_reason], ["network", "dns_failed"]);
  });

  test("a target that may not be asked for is refused before anything is stored", async () => {
    for (const target_url of ["http://127.0.0.9/", "http://169.254.169.254/", "http://[::1]/", "http://10.0.0.1/"]) {
      const answer = await server.api.post("/jobs", { target_url });
      assert.equal(answer.status, 422, target_url);
      assert.equal(answer.json<{ code: string }>().code, "forbidden_target");
    }
  });
});

describe("what a site does oddly is borne", { concurrency: 4 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.open();
  });
  after(() => server[Symbol.asyncDispose]());

  test("a chain of redirects is followed and named [slow]", async () => {
    await using site = await MisbehavingSite.start({ "/go": hops(page("Arrived")) });
    const run = await server.run({ target_url: site.url("/go?left=3") });
    assert.deepEqual([run.status, run.stats["title"]], ["completed", "Arrived"], String(run.error_message));
    assert.equal(run.stats["final_url"], site.url("/go?left=0"));
    assert.equal((run.stats["redirects"] as string[]).length, 3);
    assert.equal(site.count("/go"), 4);
  });

  test("another origin is followed to, and sees nothing of what was given for the first [slow]", async () => {
    await using other = await MisbehavingSite.start({ "/": page("Elsewhere") }, "127.0.0.2");
    await using site = await MisbehavingSite.start({ "/": sendTo(other.url("/")) });
    const run = await server.run({
      target_url: site.url("/"),
      strategy: "http",
      headers: { "x-key": "for-the-first-alone", authorization: "Bearer for-the-first-alone" },
      cookies: { sid: "for-the-first-alone" },
    });
    assert.deepEqual([run.status, run.stats["title"]], ["completed", "Elsewhere"], String(run.error_message));
    assert.equal(site.visits[0]?.headers["x-key"], "for-the-first-alone");
    assert.equal(site.visits[0]?.headers.cookie, "sid=for-the-first-alone");
    assert.ok(!JSON.stringify(other.visits[0]?.headers).includes("for-the-first-alone"));
  });

  test("a page that lies about its charset is read all the same", async () => {
    await using site = await MisbehavingSite.start({ "/": lyingCharset });
    const run = await server.run({ target_url: site.url("/"), fields: ["title"] });
    assert.deepEqual((await server.results(run.id))[0]?.data, { title: "Caf\u00e9 cr\u00e8me" });
  });

  test("robots.txt holds for who asks for it: forbidden, allowed, missing, broken", async () => {
    await using site = await MisbehavingSite.start({
      "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
      "/private": page("Private"),
      "/public": page("Public"),
      "/detour": sendTo("/private"),
    });
    const ask = (path: string, of = site) =>
      server.run({ target_url: of.url(path), respect_robots: true, max_attempts: 1 });
    const refused = await ask("/private");
    assert.deepEqual(
      [refused.status, refused.failure_code, refused.failure_reason],
      ["failed", "robots", "robots_disallowed"],
    );
    assert.equal((await ask("/detour")).failure_reason, "robots_disallowed");
    assert.equal(site.count("/private"), 0);
    assert.equal((await ask("/public")).status, "completed");
    assert.equal(site.count("/robots.txt"), 1, "asked once");
    assert.equal((await server.run({ target_url: site.url("/private") })).status, "completed", "not asked for");
    await using missing = await MisbehavingSite.start({ "/": page("Page") });
    assert.equal((await ask("/", missing)).status, "completed");
    await using broken = await MisbehavingSite.start({ "/robots.txt": status(500), "/": page("Page") });
    const unknown = await ask("/", broken);
    assert.deepEqual([unknown.status, unknown.failure_reason], ["failed", "robots_unreachable"]);
    assert.equal(broken.count("/"), 0);
  });
});
