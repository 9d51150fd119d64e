import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { browserGate, startBrowser, type TestBrowser, webSite } from "../../support/browser-kit.ts";
import { FULL } from "../../support/gate.ts";
import { failureOf } from "../../support/net.ts";
import { eventually, isAlive, renderersOf } from "./processes.ts";

const PAGE = "<p>This sentence is long enough to be taken for the content of a page.</p>";

describe("pages of one run", browserGate, () => {
  let browser: TestBrowser;
  before(() => {
    browser = startBrowser();
  });
  after(() => browser[Symbol.asyncDispose]());

  it("follow each other in one page of the browser and keep their cookies; others do not see them", async () => {
    await using site = await webSite({ "/": PAGE });
    site.on("/set", (_request, response) =>
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "visit=first" }).end(PAGE),
    );
    await browser.fetch(site.url("/set"), { shareKey: "a" });
    for (let visit = 0; visit < 3; visit += 1) await browser.fetch(site.url(`/?a${visit}`), { shareKey: "a" });
    await browser.fetch(site.url("/?b"), { shareKey: "b" });
    await browser.fetch(site.url("/?alone"));
    const cookies = new Map(site.log.map(({ path, headers }) => [path, headers.cookie]));
    assert.deepEqual(
      ["/?a0", "/?a1", "/?a2", "/?b", "/?alone"].map((path) => cookies.get(path)),
      ["visit=first", "visit=first", "visit=first", undefined, undefined],
    );
  });

  it("do not see each other's credentials", async () => {
    await using site = await webSite({ "/": PAGE });
    const credentials = {
      origin: site.origin,
      headers: { "x-key": "secret" },
      cookies: [{ name: "in", value: "yes" }],
      basic: null,
      localStorage: [],
    };
    await browser.fetch(site.url("/?with"), { shareKey: "c", credentials });
    await browser.fetch(site.url("/?without"), { shareKey: "c" });
    const seen = site.log.map(({ path, headers }) => [path, headers["x-key"], headers.cookie]);
    assert.deepEqual(seen, [
      ["/?with", "secret", "in=yes"],
      ["/?without", undefined, undefined],
    ]);
  });

  it("end where the next begins: nothing of the last page runs on, fails or counts for the next", async () => {
    await using site = await webSite({ "/next": PAGE, "/beat": "ok" });
    site.on("/busy", `${PAGE}<script>setInterval(() => fetch("/beat"), 20)</script><iframe src="/never"></iframe>`);
    site.on("/never", () => {});
    await browser.fetch(site.url("/busy"), { shareKey: "d" });
    const answer = await browser.fetch(site.url("/next"), { shareKey: "d" });
    assert.deepEqual([answer.status, answer.finalUrl, answer.requests], [200, site.url("/next"), 1]);
    const beats = () => site.log.filter(({ path }) => path === "/beat").length;
    const now = beats();
    await browser.fetch(site.url("/next?2"), { shareKey: "d" });
    assert.equal(beats(), now);
  });

  it("survive a page that failed, was aborted or crashed", async () => {
    await using site = await webSite({ "/": PAGE, "/hold": () => {} });
    await browser.fetch(site.url("/"), { shareKey: "e" });
    assert.equal(
      (await failureOf(browser.fetch(site.url("/hold"), { shareKey: "e", timeoutMs: 300 }))).reason,
      "timeout_total",
    );
    await browser.fetch(site.url("/"), { shareKey: "e" });
    const stop = new AbortController();
    const aborted = browser.fetch(site.url("/hold?2"), { shareKey: "e", signal: stop.signal });
    await site.hit("/hold?2");
    stop.abort(new Error("enough"));
    await assert.rejects(aborted, /enough/);
    await browser.fetch(site.url("/"), { shareKey: "e" });
    for (const { pid } of renderersOf(browser.pool.browserPid!)) process.kill(pid, "SIGKILL");
    assert.equal((await browser.fetch(site.url("/"), { shareKey: "e" })).status, 200);
  });

  it("make room for others, and go when nobody comes for them", async () => {
    await using site = await webSite({ "/": PAGE });
    await using browser = startBrowser({ maxPages: 1, idleMs: 1 });
    for (const shareKey of ["a", "b", "c", "a", "b"]) await browser.fetch(site.url("/"), { shareKey });
    const pid = browser.pool.browserPid!;
    await eventually("the browser without pages is gone", () => !isAlive(pid));
    assert.equal((await browser.fetch(site.url("/"), { shareKey: "a" })).status, 200);
  });

  it("are served by browser after browser when there are many", async () => {
    await using site = await webSite({ "/": PAGE });
    await using browser = startBrowser({ pagesPerBrowser: FULL ? 7 : 5 });
    const answers = await Promise.all(
      Array.from({ length: FULL ? 40 : 14 }, (_, index) => browser.fetch(site.url(`/?${index}`), { shareKey: "a" })),
    );
    assert.ok(answers.every(({ status, body }) => status === 200 && String(body).includes("This sentence")));
  });
});
