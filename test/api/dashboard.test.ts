import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DashboardFiles, PAGE_PATHS, serveDashboard, wantsPage } from "../../src/api/dashboard.ts";
import { ensureWeb } from "../../scripts/web.mjs";
import { openTestApi, TOKEN } from "./kit.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const asPage = { accept: BROWSER };
const pathOf = (template: string) => template.replace(/:\w+/g, "example.com");

describe("the dashboard's files", async () => {
  await ensureWeb();

  it("are what a browser gets at the address of a page; programs get the API there", async (t) => {
    const served = await openTestApi(t);
    for (const template of PAGE_PATHS) {
      const page = await served.get(pathOf(template), asPage);
      assert.equal(page.status, 200, template);
      assert.match(page.text, /<div id="root">/);
      assert.match(String(page.headers["vary"]), /accept/);
      assert.equal(page.headers["cache-control"], "no-store");
      assert.match(String(page.headers["content-type"]), /^text\/html/);
    }
    for (const accept of ["*/*", "application/json", "application/json, text/html", undefined]) {
      const headers = accept === undefined ? {} : { accept };
      const answer = await served.get("/runs", headers);
      assert.deepEqual([answer.status, answer.json()], [200, []], accept);
      assert.equal((await served.get("/new", headers)).json<{ code: string }>().code, "route_not_found");
    }
    assert.equal((await served.get("/health", asPage)).json<{ status: string }>().status, "ok");
  });

  it("are open without a token, and nothing else is", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    for (const path of ["/", "/runs", "/settings", "/login", "/favicon.svg", "/frame.html", "/frame.js"])
      assert.equal((await served.get(path, asPage)).status, 200, path);
    const [script] = /\/assets\/[^"]+\.js/.exec((await served.get("/", asPage)).text) ?? [];
    assert.equal((await served.get(script ?? "")).status, 200);
    for (const path of ["/runs", "/sites/example.com", "/openapi.json"])
      assert.equal((await served.get(path)).status, 401, path);
    assert.equal((await served.get("/jobs/runs", { ...asPage, accept: "*/*" })).status, 401);
    assert.equal((await served.get("/ready", asPage)).status, 401);
  });

  it("are kept for ever where their name changes with them, and asked for again everywhere else", async (t) => {
    const served = await openTestApi(t);
    const page = await served.get("/", asPage);
    const [script = ""] = /\/assets\/[^"]+\.js/.exec(page.text) ?? [];
    const plain = await served.get(script);
    assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.match(String(plain.headers["content-type"]), /^text\/javascript/);
    const zipped = await served.get(script, { "accept-encoding": "gzip, br" });
    assert.equal(zipped.headers["content-encoding"], "gzip");
    assert.ok(Number(zipped.headers["content-length"]) < Number(plain.headers["content-length"]) / 2);
    const again = await served.get(script, { "if-none-match": String(plain.headers["etag"]) });
    assert.deepEqual([again.status, again.text], [304, ""]);
    const head = await served.call({ method: "HEAD", path: "/runs", headers: asPage });
    assert.deepEqual([head.status, head.text], [200, ""]);
    assert.match(String(head.headers["content-type"]), /^text\/html/);
  });

  it("have a head for monitors, which like everything", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN } });
    const [script = ""] = /\/assets\/[^"]+\.js/.exec((await served.get("/", { accept: "*/*" })).text) ?? [];
    for (const path of ["/", "/new", "/settings", "/login", "/favicon.svg", "/frame.html", script])
      for (const headers of [{ accept: "*/*" }, {}, asPage]) {
        const { status, text, headers: told } = await served.call({ method: "HEAD", path, headers });
        assert.deepEqual([status, text], [200, ""], `${path} ${JSON.stringify(headers)}`);
        assert.ok(Number(told["content-length"]) > 100, path);
      }
    assert.equal((await served.call({ method: "HEAD", path: "/nowhere", headers: { accept: "*/*" } })).status, 401);
    assert.equal((await served.call({ method: "HEAD", path: "/runs", headers: { accept: "*/*" } })).status, 401);
  });

  it("run nothing inline and load nothing from elsewhere; what shows strangers' pages has no origin and no network", async (t) => {
    const served = await openTestApi(t);
    const page = await served.get("/", asPage);
    const policy = String(page.headers["content-security-policy"]);
    for (const part of [
      "default-src 'none'",
      "script-src 'self';",
      "style-src 'self';",
      "connect-src 'self'",
      "frame-src 'self'",
    ])
      assert.ok(policy.includes(part), policy);
    assert.ok(!/unsafe/.test(policy), policy);
    assert.ok(!/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style/i.test(page.text), page.text);
    assert.equal(page.headers["x-frame-options"], "DENY");
    const frame = await served.get("/frame.html", asPage);
    const own = String(frame.headers["content-security-policy"]);
    assert.ok(own.startsWith("sandbox allow-scripts; default-src 'none'"), own);
    assert.ok(!/same-origin|connect-src|https?:/.test(own), own);
    assert.equal(frame.headers["x-frame-options"], "SAMEORIGIN");
    const [script = ""] = /\/assets\/[^"]+\.js/.exec(page.text) ?? [];
    const worker = String((await served.get(script)).headers["content-security-policy"]);
    assert.match(worker, /^default-src 'none'; connect-src 'self'; base-uri/);
  });

  it("are all that can be read: no address leads to another file", async (t) => {
    const served = await openTestApi(t);
    for (const path of [
      "/assets/..%2f..%2fpackage.json",
      "/assets/../index.html",
      "/assets/%2e%2e/%2e%2e/%2e%2e/package.json",
      "/assets/..%5c..%5cpackage.json",
      "/assets//etc/passwd",
      "/assets/sources.sha256",
      "/sources.sha256",
      "/assets/index.html%00.js",
    ]) {
      const answer = await served.get(path);
      assert.ok(answer.status === 404 || answer.status === 400, `${path}: ${answer.status}`);
      assert.ok(!/orbweaver"|root:|^[0-9a-f]{64}$/.test(answer.text), path);
    }
  });

  it("that are not there yet are explained, in a page that needs none of them", async (t) => {
    const missing = new DashboardFiles("/nowhere/at/all");
    const served = await openTestApi(t, {
      routes: [
        (api) => api.register(async (inner) => serveDashboard(inner as typeof api, missing), { prefix: "/later" }),
      ],
    });
    const answer = await served.get("/later/runs", asPage);
    assert.equal(answer.status, 503);
    assert.match(answer.text, /npm run build/);
  });

  it("leave addresses that are none to the API, for programs, and to a page that says so, for people", async (t) => {
    const served = await openTestApi(t);
    assert.equal((await served.get("/nowhere")).json<{ code: string }>().code, "route_not_found");
    const page = await served.get("/nowhere/at/all", asPage);
    assert.equal(page.status, 404);
    assert.match(page.text, /<div id="root">/);
    const posted = await served.send("POST", "/nowhere", {});
    assert.deepEqual([posted.status, posted.json<{ code: string }>().code], [404, "route_not_found"]);
    assert.equal((await served.send("DELETE", "/runs")).status, 405);
  });
});

it("whether a page is wanted follows from what is liked best", () => {
  for (const accept of [BROWSER, "text/html", "text/html;q=0.9, application/json;q=0.5", "application/xhtml+xml, */*"])
    assert.equal(wantsPage(accept), true, accept);
  for (const accept of [
    undefined,
    "",
    "*/*",
    "application/json",
    "application/json, text/html",
    "text/html;q=0",
    "text/html;q=0.5, application/json",
    "text/event-stream",
    ";;,q=",
    "text/htmlx",
  ])
    assert.equal(wantsPage(accept), false, accept);
});
