import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, describe, it } from "node:test";
import { inflateSync } from "node:zlib";
import type { BrowserAction } from "../../../src/domain/page/page-options.ts";
import { FetchFailure } from "../../../src/domain/run/failure.ts";
import { PageFailure, type BrowserFetchOptions, type PageRequest } from "../../../src/fetch/page.ts";
import {
  browserGate,
  CANARY,
  plain,
  startBrowser,
  type TestBrowser,
  type TestSite,
  webSite,
} from "../../support/browser-kit.ts";

const LONG = "This sentence is long enough to be taken for the content of a page.";
const SHOP = `<!doctype html><title>Shop</title><style>body { margin: 0; background: rgb(255, 0, 0) }</style><p>${LONG}</p>
  <input id=q><button id=go onclick="out.textContent += 'go:' + q.value + ';'">Go</button>
  <button class=more onclick="this.remove(); out.textContent += 'more;'">1</button><button class=more onclick="this.remove(); out.textContent += 'more;'">2</button>
  <button id=late onclick="setTimeout(() => out.insertAdjacentHTML('afterend', '<i id=came>came late</i>'), 150)">Late</button>
  <button id=data onclick="fetch('/data').then((a) => a.text()).then((t) => out.textContent += t)">Data</button>
  <button id=hidden style="display: none">Hidden</button>
  <a id=next href="/next">Next</a> <a id=away href="http://${CANARY}:1/away">Away</a> <a id=lost href="/lost">Lost</a> <a id=json href="/json">JSON</a>
  <div id=out></div><div id=box style="height: 50px; overflow: auto"><div style="height: 900px"></div></div>
  <div style="height: 3000px"></div><p>the end</p>
  <script>q.addEventListener("keydown", (e) => { if (e.key === "Enter") out.textContent += "enter;" });
    addEventListener("scroll", () => { out.dataset.y = Math.round(scrollY) });
    box.addEventListener("scroll", () => { out.dataset.box = box.scrollTop });
    out.dataset.touch = navigator.maxTouchPoints; out.dataset.width = innerWidth;</script>`;

/** The size, and the colour of the first pixel, of a PNG. */
function pictureOf(png: Uint8Array): { width: number; height: number; colour: number[] } {
  const bytes = Buffer.from(png);
  assert.equal(bytes.toString("latin1", 1, 4), "PNG");
  const parts: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  // The first row has nothing above it, and its first pixel nothing beside it: whatever its filter, it stands for itself.
  const pixels = inflateSync(Buffer.concat(parts));
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), colour: [...pixels.subarray(1, 4)] };
}

describe("what is done on a page in the browser", { ...browserGate, concurrency: 2 }, () => {
  let browser: TestBrowser;
  let site: TestSite;
  before(async () => {
    browser = startBrowser();
    site = await webSite({
      "/": SHOP,
      "/next": `<title>Next</title><p>${LONG}</p><b>the next page</b>`,
      "/data": plain("text/plain", "data;"),
      "/json": plain("application/json", '{"a":1}'),
    });
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const visit = (wishes: BrowserFetchOptions, more: Partial<PageRequest> = {}) =>
    browser.fetch(site.url("/"), { browser: wishes, ...more });
  const out = (body: Uint8Array | string) => /<div id="out"[^>]*>([^<]*)</.exec(String(body))?.[1];
  const failing = async (actions: BrowserAction[], more: Partial<PageRequest> = {}) => {
    const error = await visit({ actions }, more).then(
      () => assert.fail("it was done"),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof FetchFailure, String(error));
    return { ...error.failure, evidence: error instanceof PageFailure ? error.evidence : null };
  };

  it("clicks, writes and presses keys, one after the other", async () => {
    const { body } = await visit({
      actions: [
        { type: "click", selector: "#q" },
        { type: "write", text: "Ümläut & <b>" },
        { type: "press", key: "Enter" },
        { type: "click", selector: "#go" },
        { type: "click", selector: "#q" },
        { type: "press", key: "Control+A" },
        { type: "write", text: "x".repeat(600) },
        { type: "click", selector: "#go" },
      ],
    });
    assert.equal(out(body), `enter;go:Ümläut &amp; &lt;b&gt;;go:${"x".repeat(600)};`);
  });

  it("clicks the first that matches, or all, and waits for what clicks set off", async () => {
    assert.equal(out((await visit({ actions: [{ type: "click", selector: ".more" }] })).body), "more;");
    const all = await visit({
      actions: [
        { type: "click", selector: ".more", all: true },
        { type: "click", selector: "#data" },
      ],
    });
    assert.equal(out(all.body), "more;more;data;");
  });

  it("waits for time and for what comes late, and keeps the page as it is at a moment", async () => {
    const { body, taken, finalUrl } = await visit({
      actions: [
        { type: "scrape" },
        { type: "wait", milliseconds: 20 },
        { type: "click", selector: "#late" },
        { type: "wait", selector: "#came" },
        { type: "click", selector: "#next" },
        { type: "scrape" },
      ],
    });
    assert.match(String(body), /the next page/);
    assert.equal(finalUrl, site.url("/next"));
    const [first, second] = taken!.actions!.scrapes;
    assert.deepEqual([first!.url, second!.url], [site.url("/"), site.url("/next")]);
    assert.doesNotMatch(first!.html, /<i id="came">/);
    assert.match(second!.html, /the next page/);
  });

  it("scrolls the page and an element, by a window's height unless told", async () => {
    const y = (body: unknown) => /data-y="(\d+)"/.exec(String(body))?.[1];
    const down = await visit({ actions: [{ type: "scroll", direction: "down" }] });
    assert.equal(y(down.body), "720");
    const { body } = await visit({
      actions: [
        { type: "scroll", direction: "down", amount: 500 },
        { type: "scroll", direction: "up", amount: 200 },
        { type: "scroll", direction: "down", amount: 70, selector: "#box" },
      ],
    });
    assert.deepEqual([y(body), /data-box="(\d+)"/.exec(String(body))?.[1]], ["300", "70"]);
  });

  describe("scrolls to the end", () => {
    /** Each request brings five more, when the last one is seen; `pages` of them. `script` says when that is asked for. */
    const list = (script: string) => `<!doctype html><title>List</title><p>${LONG}</p><ul id=list></ul><script>
      let page = 0, busy = false, over = false;
      const more = async () => {
        if (busy || over) return;
        busy = true;
        const { items, last } = await (await fetch("/items?page=" + page++)).json();
        list.append(...items.map((n) => Object.assign(document.createElement("li"),
          { textContent: "item " + n, style: "height: 300px" })));
        over = last;
        busy = false;
      };
      more();
      ${script}
    </script>`;
    const SCRIPTS = {
      "when the end is seen": `new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); })
        .observe(document.body.appendChild(document.createElement("footer")));`,
      "a moment after the page was scrolled": `let timer;
        addEventListener("scroll", () => { clearTimeout(timer); timer = setTimeout(more, 400); });`,
    };
    const itemsOf = (pages: number) => (request: IncomingMessage, response: ServerResponse) => {
      const page = Number(new URL(request.url ?? "", "http://a.example").searchParams.get("page"));
      const items = Array.from({ length: 5 }, (_, n) => page * 5 + n);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ items, last: page === pages - 1 }));
    };
    const count = (body: unknown) => String(body).match(/<li /g)?.length ?? 0;

    for (const [when, script] of Object.entries(SCRIPTS))
      it(`of a list that loads more ${when}`, async () => {
        await using server = await webSite({ "/list": list(script) });
        server.on("/items", itemsOf(8));
        const actions: BrowserAction[] = [{ type: "scroll_to_end" }];
        const { body } = await browser.fetch(server.url("/list"), { browser: { actions }, timeoutMs: 600_000 });
        assert.equal(count(body), 40);
      });

    it("no further than it is allowed to, where a list has no end", async () => {
      await using server = await webSite({ "/list": list(SCRIPTS["when the end is seen"]) });
      server.on("/items", itemsOf(Number.POSITIVE_INFINITY));
      const actions: BrowserAction[] = [{ type: "scroll_to_end", max_steps: 3 }];
      const { body } = await browser.fetch(server.url("/list"), { browser: { actions }, timeoutMs: 600_000 });
      assert.ok(count(body) >= 15 && count(body) <= 40, `${count(body)} items`);
    });

    it("of an element, and of a page that has nothing more", async () => {
      const { body } = await visit({
        actions: [{ type: "scroll_to_end", selector: "#box" }, { type: "scroll_to_end" }],
      });
      assert.equal(/data-box="(\d+)"/.exec(String(body))?.[1], "850");
      assert.ok(Number(/data-y="(\d+)"/.exec(String(body))?.[1]) > 2000);
      const { message } = await failing([{ type: "scroll_to_end", selector: "#no" }], { timeoutMs: 60_000 });
      assert.match(message, /\(scroll to the end of "#no"\): nothing on the page matches$/);
    });
  });

  it("takes pictures of the window and of the whole page", async () => {
    const { taken, body } = await visit({
      actions: [{ type: "screenshot" }, { type: "screenshot", full_page: true }],
      picture: "window",
    });
    assert.match(String(body), /the end/);
    const [window, whole] = taken!.actions!.screenshots.map(pictureOf);
    assert.deepEqual(window, { width: 1280, height: 720, colour: [255, 0, 0] });
    assert.ok(whole!.width === 1280 && whole!.height > 3000, JSON.stringify(whole));
    assert.equal(pictureOf(taken!.screenshot!).height, 720);
    assert.ok(pictureOf((await visit({ picture: "page" })).taken!.screenshot!).height > 3000);
    assert.equal((await visit({})).taken, undefined, "nobody asked");
  });

  it("shows itself as a phone, in a context of its own", async () => {
    site.on("/phone", SHOP);
    const [phone, installation] = await Promise.all([
      browser.fetch(site.url("/phone"), { browser: { mobile: true, picture: "window" }, shareKey: "one" }),
      browser.fetch(site.url("/phone"), { shareKey: "one" }),
    ]);
    const seen = (body: unknown) => /data-touch="(\d+)" data-width="(\d+)"/.exec(String(body))?.slice(1);
    // The page says nothing of the width of its window: a phone then takes it for a wide one.
    assert.notEqual(seen(phone.body)?.[0], "0");
    assert.deepEqual(seen(installation.body), ["0", "1280"]);
    assert.equal(pictureOf(phone.taken!.screenshot!).width, 412);
    const agents = site.log.filter(({ path }) => path === "/phone");
    assert.deepEqual(
      agents.map(({ headers }) => /Android.*Mobile.* orb-test\/1\.0$/.test(headers["user-agent"] ?? "")).toSorted(),
      [false, true],
    );
  });

  it("waits as long as it is told before the page is read", async () => {
    site.on("/slow", `<p>${LONG}</p><script>setTimeout(() => document.title = "after all", 1500)</script>`);
    const read = async (waitMs: number) =>
      String((await browser.fetch(site.url("/slow"), { browser: { waitMs } })).body).includes("<title>after all");
    assert.equal(await read(2500), true);
  });

  it("an action that cannot be done names itself, and is not tried again elsewhere", async () => {
    const found = [{ type: "scrape" }, { type: "click", selector: "#nowhere" }] satisfies BrowserAction[];
    const missing = await failing(found, { timeoutMs: 60_000 });
    assert.deepEqual([missing.code, missing.reason], ["extraction", "action_failed"]);
    assert.equal(missing.message, 'browser.actions[1] (click "#nowhere"): nothing on the page matches');
    assert.match(missing.evidence?.html ?? "", /Shop/);
    assert.ok((missing.evidence?.screenshot?.byteLength ?? 0) > 0);
    const said = async (action: BrowserAction, timeoutMs = 60_000) => (await failing([action], { timeoutMs })).message;
    assert.match(
      await said({ type: "wait", selector: "#never" }, 20_000),
      /^browser\.actions\[0\] \(wait for "#never"\): nothing/,
    );
    assert.match(await said({ type: "click", selector: "#hidden" }), /not visible$/);
    assert.match(await said({ type: "click", selector: "p[" }), /it is not a valid CSS selector$/);
    assert.match(await said({ type: "scroll", direction: "up", selector: "#no" }), /nothing on the page matches$/);
    assert.match(await said({ type: "press", key: "NoSuchKey" }), /Unknown key/);
    const secret = await said({ type: "write", text: "a-secret" });
    assert.match(secret, /^browser\.actions\[0\] \(write\): no element has the focus/);
    assert.doesNotMatch(secret, /a-secret/);
  });

  it("an action may lead to another page, but not where the guard or the caller does not let it", async () => {
    await using canary = await webSite({ "/away": `<p>${LONG}</p>` }, CANARY);
    site.on(
      "/door",
      `<p>${LONG}</p><a id=away href="${canary.url("/away")}">x</a><button id=script onclick="location = '${canary.url("/away")}'">y</button>
       <form action="${canary.url("/away")}"><button id=form>z</button></form><a id=hop href="/hop">h</a>`,
    );
    site.on("/hop", (_request, response) => void response.writeHead(302, { location: canary.url("/away") }).end());
    for (const selector of ["#away", "#script", "#form", "#hop"]) {
      const actions: BrowserAction[] = [
        { type: "click", selector },
        { type: "wait", milliseconds: 50 },
      ];
      const error = await browser.fetch(site.url("/door"), { browser: { actions } }).then(
        () => assert.fail(`${selector} was followed`),
        (thrown: unknown) => thrown as FetchFailure,
      );
      assert.deepEqual([error.failure.code, error.failure.reason], ["forbidden_target", "private_address"], selector);
      assert.match(error.failure.message, /^browser\.actions\[[01]\] \(/);
    }
    assert.deepEqual(canary.log, [], "nothing came through");
    const kept = await failing([{ type: "click", selector: "#next" }], { followRedirects: () => false });
    assert.equal(kept.reason, "action_failed");
    assert.match(kept.message, /leads to a URL that this run does not follow$/);
  });

  it("what an action leads to is judged as it is: an error page by its status, data as data", async () => {
    assert.equal((await visit({ actions: [{ type: "click", selector: "#lost" }] })).status, 404);
    const { body, contentType } = await visit({ actions: [{ type: "click", selector: "#json" }] });
    assert.deepEqual([String(body), contentType], ['{"a":1}', "application/json"]);
    site.on(
      "/gone",
      (_request, response) => void response.writeHead(404, { "content-type": "text/html" }).end("<p>no"),
    );
    const gone = await browser.fetch(site.url("/gone"), { browser: { actions: [{ type: "click", selector: "#q" }] } });
    assert.deepEqual([gone.status, gone.taken], [404, undefined], "nothing is done on a page that is not there");
  });

  it("a click that leads to a page that takes its time is waited for", async () => {
    site.on("/to-slow", `<p>${LONG}</p><a id=s href="/slow">slow</a>`);
    site.on("/slow", (_request, response) => {
      // Longer than an element may take to be reached.
      setTimeout(() => response.writeHead(200, { "content-type": "text/html" }).end(`<h1>At last</h1>${LONG}`), 5_500);
    });
    const actions: BrowserAction[] = [{ type: "click", selector: "#s" }];
    const { body } = await browser.fetch(site.url("/to-slow"), { browser: { actions } });
    assert.match(String(body), /At last/);
  });

  it("has the page's time and no more, and ends at once when it is called off", async () => {
    const late = await failing([{ type: "wait", milliseconds: 60_000 }], { timeoutMs: 12_000 });
    assert.deepEqual([late.code, late.reason], ["timeout", "timeout_total"]);
    assert.match(late.message, /, at browser\.actions\[0\] \(wait 60000 ms\)$/);
    site.on("/called", `<p>${LONG}</p><button id=b onclick="fetch('/clicked')">b</button>`);
    const cancel = new AbortController();
    const actions: BrowserAction[] = [
      { type: "click", selector: "#b" },
      { type: "wait", selector: "#never" },
    ];
    const work = browser.fetch(site.url("/called"), {
      browser: { actions },
      signal: cancel.signal,
      timeoutMs: 600_000,
    });
    await site.hit("/clicked");
    cancel.abort(new Error("called off"));
    await assert.rejects(work, /called off/);
    assert.equal((await visit({})).status, 200, "the browser goes on");
  });
});
