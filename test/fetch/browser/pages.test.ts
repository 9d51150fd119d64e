import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { after, before, describe, it } from "node:test";
import type { PageAnswer } from "../../../src/fetch/page.ts";
import { failureOf } from "../../support/net.ts";
import {
  after as later,
  browserGate,
  html,
  plain,
  sendTo,
  startBrowser,
  type TestBrowser,
  webSite,
} from "../../support/browser-kit.ts";

const text = (answer: PageAnswer) =>
  typeof answer.body === "string" ? answer.body : Buffer.from(answer.body).toString();
const LONG = "This sentence is long enough to be taken for the content of a page.";

/**
 * When a page has its content is told by how long nothing has come: one whose browser stood still for a while may be read
 * too soon. Such a one is asked for again.
 */
async function settled(read: () => Promise<PageAnswer>, isIt: (answer: PageAnswer) => boolean): Promise<PageAnswer> {
  let answer = await read();
  for (let again = 0; again < 4 && !isIt(answer); again += 1) answer = await read();
  return answer;
}

describe("a page in the browser", browserGate, () => {
  let browser: TestBrowser;
  before(() => {
    browser = startBrowser();
  });
  after(() => browser[Symbol.asyncDispose]());

  it("comes with its status, headers, address and markup", async () => {
    await using site = await webSite({
      "/": html(`<!doctype html><title>t</title><p id=a>${LONG}</p>`, 203, { "x-own": "1", "set-cookie": "a=b" }),
    });
    const answer = await browser.fetch(site.url("/#part"));
    assert.equal(answer.status, 203);
    assert.equal(answer.finalUrl, site.url("/"));
    assert.equal(answer.contentType, "text/html; charset=utf-8");
    assert.equal(answer.headers["x-own"], "1");
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.equal(answer.browser, "playwright-chromium");
    assert.equal(answer.requests, 1);
    assert.deepEqual(answer.redirects, []);
    assert.ok(answer.durationMs > 0);
    assert.match(text(answer), /^<!DOCTYPE html><html><head><title>t<\/title><\/head><body><p id="a">This/);
  });

  it("shows itself with the program's user agent, in documents, pictures and scripts alike", async () => {
    await using site = await webSite({
      "/": `<img src=/i.png><script src=/s.js></script><p>${LONG}</p>
        <script>document.title = navigator.userAgent; new Worker("/w.js")</script>`,
      "/s.js": plain("text/javascript", ""),
      "/w.js": plain("text/javascript", "fetch('/from-worker')"),
    });
    const answer = await browser.fetch(site.url("/"));
    assert.match(text(answer), /<title>orb-test\/1\.0<\/title>/);
    await Promise.all([site.hit("/i.png"), site.hit("/s.js"), site.hit("/from-worker")]);
    for (const { path, headers } of site.log) assert.equal(headers["user-agent"], "orb-test/1.0", path);
  });

  it("has what scripts put there: at once, after a request, after a chain of requests, after a timer [slow]", async () => {
    const script = (code: string) =>
      `<div id=app></div><script>const app = document.getElementById("app"); ${code}</script>`;
    const show = (name: string) => `app.textContent = ${JSON.stringify(`${name}: ${LONG}`)}`;
    await using site = await webSite({
      "/now": script(show("now")),
      "/one": script(`fetch("/data").then((r) => r.json()).then(() => { ${show("one")} })`),
      "/words": `<p>${LONG}</p>${script(`fetch("/slow").then((r) => r.json()).then(() => { ${show("words")} })`)}`,
      "/chain": script(`(async () => {
        for (let i = 0; i < 4; i += 1) { await (await fetch("/data?" + i)).json(); await new Promise((r) => setTimeout(r, 30)); }
        ${show("chain")} })()`),
      "/xhr": script(
        `const x = new XMLHttpRequest(); x.open("GET", "/data"); x.onload = () => { ${show("xhr")} }; x.send()`,
      ),
      "/timer": script(`setTimeout(() => { ${show("timer")} }, 400)`),
      "/import": `<div id=app></div><script type=module>import("/mod.js")</script>`,
      "/mod.js": later(200, plain("text/javascript", `const app = document.getElementById("app"); ${show("import")}`)),
      "/data": later(300, plain("application/json", "{}")),
      "/slow": later(600, plain("application/json", "{}")),
    });
    for (const name of ["now", "one", "words", "chain", "xhr", "timer", "import"]) {
      const full = new RegExp(`${name}: This sentence`);
      const read = () => browser.fetch(site.url(`/${name}`));
      assert.match(text(await settled(read, (answer) => full.test(text(answer)))), full, name);
    }
  });

  it("does not wait for long polls, streams, sockets or pictures that never come", async () => {
    const never = () => {};
    await using site = await webSite({
      "/": `<p>${LONG}</p><img src=/never.png><link rel=stylesheet media=print href=/never.css><script>
        fetch("/never"); new EventSource("/stream"); new WebSocket("ws://" + location.host + "/never");
        setInterval(() => fetch("/tick"), 5000)</script>`,
      "/never.png": never,
      "/never.css": never,
      "/never": never,
      "/stream": (_request, response) =>
        void response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n"),
    });
    const answer = await browser.fetch(site.url("/"), { timeoutMs: 45_000 });
    assert.match(text(answer), /This sentence/);
  });

  it("waits for a selector when asked to, and says so when it does not come [slow]", async () => {
    await using site = await webSite({
      "/": `<p>${LONG}</p><script>setTimeout(() => document.body.append(Object.assign(document.createElement("b"), { id: "late" })), 700)</script>`,
    });
    assert.match(text(await browser.fetch(site.url("/"), { browser: { waitFor: "#late" } })), /<b id="late">/);
    const failed = await failureOf(browser.fetch(site.url("/"), { browser: { waitFor: "#never" }, timeoutMs: 8_000 }));
    assert.equal(failed.reason, "timeout_total");
    for (const waitFor of ["p[", "text=This", "a >> b"]) {
      const wrong = await failureOf(browser.fetch(site.url("/"), { browser: { waitFor } }));
      assert.equal(wrong.reason, "request_invalid", waitFor);
      assert.match(wrong.message, /^waitFor: /);
    }
  });

  it("follows redirects, those of scripts and of refreshes as well, and tells the way", async () => {
    await using site = await webSite({
      "/a": sendTo("/b", 301),
      "/b": sendTo("/c#x", 307),
      "/c": `<p>${LONG}</p>`,
      "/js": `<script>location.href = "/c"</script>`,
      "/refresh": `<meta http-equiv=refresh content="0; url=/c">`,
      // Chromium leaves once all of the page is there.
      "/late": `<meta http-equiv=Refresh content=" 0.5;URL='/c' "><p>${LONG}</p><img src=/slow>`,
      "/header": html(`<p>here you are not</p><img src=/slow>`, 200, { refresh: "0; url=/c" }),
      "/slow": later(400, plain("", "image/png")),
      "/loop": sendTo("/loop"),
    });
    const answer = await browser.fetch(site.url("/a"));
    assert.equal(answer.finalUrl, site.url("/c"));
    assert.equal(answer.requests, 3);
    assert.deepEqual(answer.redirects, [
      { status: 301, from: site.url("/a"), to: site.url("/b") },
      { status: 307, from: site.url("/b"), to: site.url("/c") },
    ]);
    for (const path of ["/js", "/refresh", "/late", "/header"]) {
      const moved = await settled(
        () => browser.fetch(site.url(path)),
        (answer) => answer.finalUrl === site.url("/c"),
      );
      assert.equal(moved.finalUrl, site.url("/c"), path);
      assert.match(text(moved), /This sentence/);
    }
    assert.equal((await failureOf(browser.fetch(site.url("/loop")))).reason, "too_many_redirects");
  });

  it("does not follow what the caller declines, and does not ask for it", async () => {
    await using other = await webSite({ "/": `<p>${LONG}</p>` });
    await using site = await webSite({
      "/": sendTo(other.url("/")),
      "/js": `<p>stays: ${LONG}</p><script>location.href = ${JSON.stringify(other.url("/"))}</script>`,
      "/refresh": `<meta http-equiv=refresh content="0; url=${other.url("/")}"><p>stays: ${LONG}</p>`,
      "/news": `<meta http-equiv=refresh content="300"><p>stays: ${LONG}</p>`,
    });
    const asked: string[] = [];
    const followRedirects = (from: URL, to: URL) => {
      asked.push(`${from.href} ${to.href}`);
      return from.host === to.host;
    };
    const answer = await browser.fetch(site.url("/"), { followRedirects });
    assert.equal(answer.status, 302);
    assert.equal(answer.notFollowed, other.url("/"));
    assert.deepEqual(asked, [`${site.url("/")} ${other.url("/")}`]);
    for (const path of ["/js", "/refresh", "/news"])
      assert.match(text(await browser.fetch(site.url(path), { followRedirects })), /stays:/, path);
    assert.equal(other.connections, 0);
  });

  it("is given as it came when it is JSON, XML or text", async () => {
    const json = JSON.stringify({ a: "ü", b: [1, 2] });
    await using site = await webSite({
      "/json": plain("application/json", gzipSync(json), { "content-encoding": "gzip" }),
      "/feed": plain("application/rss+xml", "<rss><channel/></rss>"),
      "/text": plain("text/plain", "<b>not markup</b>"),
      "/empty": (_request, response) => void response.writeHead(204).end(),
    });
    const answer = await browser.fetch(site.url("/json"));
    assert.equal(text(answer), json);
    assert.equal(answer.contentType, "application/json");
    assert.equal(text(await browser.fetch(site.url("/feed"))), "<rss><channel/></rss>");
    assert.equal(text(await browser.fetch(site.url("/text"))), "<b>not markup</b>");
    const empty = await browser.fetch(site.url("/empty"));
    assert.equal(empty.status, 204);
    assert.equal(text(empty), "");
  });

  it("is no page when it is a file, and downloads do not hang", async () => {
    await using site = await webSite({
      "/pdf": plain("application/pdf", "%PDF-1.4"),
      "/zip": plain("application/octet-stream", Buffer.alloc(1000)),
      "/attached": plain("text/html", "<p>x</p>", { "content-disposition": "attachment; filename=x.html" }),
      "/click": `<p>${LONG}</p><a id=a href=/zip download>x</a><script>a.click(); location.href = "/zip"</script>`,
    });
    for (const path of ["/pdf", "/zip", "/attached"])
      assert.equal((await failureOf(browser.fetch(site.url(path)))).reason, "not_html", path);
    assert.match(text(await browser.fetch(site.url("/click"))), /This sentence/);
  });

  it("goes on by itself when it asks, warns, opens windows or does not want to be left", async () => {
    await using site = await webSite({
      "/": `<p>${LONG}</p><script>
        alert("stop"); const sure = confirm("sure?"); prompt("name?"); print();
        window.open("/popup"); window.open("about:blank"); onbeforeunload = (e) => { e.preventDefault(); return "stay"; };
        document.title = "sure: " + sure;</script>`,
      "/popup": `<script>alert("again")</script>`,
    });
    assert.match(text(await browser.fetch(site.url("/"))), /<title>sure: false<\/title>/);
  });

  it("may not be larger than asked for, however it grows", async () => {
    await using site = await webSite({
      "/sent": html(`<p>${"x".repeat(200_000)}</p>`),
      "/made": `<p>${LONG}</p><script>document.body.append("y".repeat(200000))</script>`,
      "/json": plain("application/json", JSON.stringify("x".repeat(200_000))),
    });
    for (const path of ["/sent", "/made", "/json"])
      assert.equal(
        (await failureOf(browser.fetch(site.url(path), { maxBodyBytes: 100_000 }))).reason,
        "body_too_large",
        path,
      );
  });

  it("leaves out pictures, fonts and media when asked to", async () => {
    await using site = await webSite({
      "/": `<style>@font-face { font-family: f; src: url(/f.woff2) } p { font-family: f }</style>
        <img src=/i.png><video src=/v.mp4 autoplay></video><script src=/s.js></script><p>${LONG}</p>`,
      "/s.js": plain("text/javascript", "document.title = 'ran'"),
    });
    assert.match(text(await browser.fetch(site.url("/"), { browser: { blockResources: true } })), /<title>ran/);
    assert.deepEqual(site.log.map(({ path }) => path).sort(), ["/", "/s.js"]);
  });

  it("brings a picture and its markup along when they are wanted", async () => {
    await using site = await webSite({ "/": `<p>${LONG}</p>` });
    let seen: PageAnswer | null = null;
    const answer = await browser.fetch(site.url("/"), {
      wantsEvidence: async (so) => {
        seen = so;
        return true;
      },
    });
    assert.equal(seen, answer);
    assert.deepEqual(
      [...answer.evidence!.screenshot!.slice(1, 4)].map((code) => String.fromCharCode(code)).join(""),
      "PNG",
    );
    assert.match(answer.evidence!.html!, /This sentence/);
    const without = await browser.fetch(site.url("/"), { wantsEvidence: async () => false });
    assert.equal(without.evidence, undefined);
  });
});

describe("a page that is a challenge", browserGate, () => {
  it("is waited for until it has passed, and taken as it is when it does not [slow]", async () => {
    await using browser = startBrowser({ isChallenge: ({ html }) => html.includes("Checking your browser") });
    let visits = 0;
    await using site = await webSite();
    site.on("/", (request, response) => {
      visits += 1;
      const passed = /passed=1/.test(request.headers.cookie ?? "");
      html(
        passed
          ? `<p>the real page: ${LONG}</p>`
          : `<p>Checking your browser before you may go on, please wait …</p>
             <script>setTimeout(() => { document.cookie = "passed=1"; location.reload(); }, 1200)</script>`,
        passed ? 200 : 403,
      )(request, response);
    });
    const answer = await browser.fetch(site.url("/"));
    assert.equal(answer.status, 200);
    assert.match(text(answer), /the real page/);
    assert.equal(visits, 2);
    site.on("/stuck", "<p>Checking your browser before you may go on, please wait …</p>");
    const stuck = await browser.fetch(site.url("/stuck"), { timeoutMs: 8_000 });
    assert.match(text(stuck), /Checking your browser/);
  });
});
