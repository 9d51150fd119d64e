import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createSocket } from "node:dgram";
import { type AddressInfo, connect } from "node:net";
import { describe, it } from "node:test";
import type { BrowserPoolOptions } from "../../../src/fetch/browser/pool.ts";
import {
  browserGate,
  CANARY,
  html,
  plain,
  type Route,
  sendTo,
  SITE,
  startBrowser,
  type TestBrowser,
  webSite,
} from "../../support/browser-kit.ts";
import { failureOf } from "../../support/net.ts";
import { type RemoteChromium, startRemoteChromium } from "../../support/remote-browser.ts";
import { eventually, treeOf } from "./processes.ts";

const PAGE = "<p>This sentence is long enough to be taken for the content of a page.</p>";
const never: Route = () => {};

type Remote = NonNullable<BrowserPoolOptions["remote"]>;

function through(urls: string[], more: Partial<Remote> = {}, options: Partial<BrowserPoolOptions> = {}): TestBrowser {
  return startBrowser({ ...options, remote: { urls, local: false, maxPages: 4, trusted: false, ...more } });
}

const stateOf = ({ pool }: TestBrowser, { port }: RemoteChromium) =>
  pool.browsers.find(({ name }) => name === `127.0.0.1:${port}`)!;

describe("a remote browser", browserGate, () => {
  it("fetches pages, names us as the local one does, and starts no browser here", async () => {
    await using remote = await startRemoteChromium();
    await using site = await webSite({
      "/": (request, response) => html(`${PAGE}<b>${request.headers["user-agent"]}</b>`)(request, response),
    });
    await using browser = through([remote.url]);
    const answer = await browser.fetch(site.url("/"));
    assert.equal(answer.status, 200);
    assert.match(answer.body as string, /<b>orb-test\/1\.0<\/b>/);
    assert.equal(browser.pool.browserPid, null);
    assert.equal(await browser.pool.memory(), 0);
    const { state, version, maxPages } = stateOf(browser, remote);
    assert.equal(state, "up");
    assert.match(version ?? "", /^\d+\./);
    assert.equal(maxPages, 4);
    await browser.pool.close();
    assert.ok(treeOf(remote.pid).length > 0, "it goes on without us");
  });

  it("sends nothing to internal addresses, whatever a page tries", async () => {
    await using remote = await startRemoteChromium();
    await using canary = await webSite({}, CANARY);
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, CANARY, resolve));
    let packets = 0;
    socket.on("message", () => (packets += 1));
    const udp = socket.address().port;
    await using site = await webSite({
      "/done": plain("text/plain", "ok"),
      "/frame": `<script>parent.tried("frame", typeof RTCPeerConnection)</script>`,
    });
    const targets = [canary.url("/x"), `http://inside.test:${canary.port}/x`];
    site.on("/hop", sendTo(canary.url("/hop")));
    targets.push(site.url("/hop"));
    const stun = `{ iceServers: [{ urls: "stun:${CANARY}:${udp}" }] }`;
    site.on(
      "/try",
      `${PAGE}<script>
      const seen = {};
      window.tried = (name, what) => { seen[name] = what; };
      const rtc = (global) => { try {
        const peer = new global.RTCPeerConnection(${stun});
        peer.createDataChannel("x"); peer.createOffer().then((o) => peer.setLocalDescription(o)); return "open";
      } catch { return "none"; } };
      const blank = document.createElement("iframe");
      document.documentElement.append(blank);
      tried("here", rtc(window)); tried("blank", rtc(blank.contentWindow));
      const own = document.createElement("iframe"); own.src = "/frame"; document.documentElement.append(own);
      const framed = new Promise((resolve) => own.onload = resolve);
      const wait = (on) => new Promise((resolve) => on(resolve));
      Promise.all([framed, ...${JSON.stringify(targets)}.flatMap((t) => [
        fetch(t, { mode: "no-cors" }).catch(() => {}),
        wait((then) => { const w = new WebSocket(t.replace("http", "ws")); w.onerror = w.onopen = then; }),
        wait((then) => { const i = new Image(); i.onload = i.onerror = then; i.src = t; }),
        wait((then) => { try { const w = new WebTransport("https://${CANARY}:${udp}/"); w.closed.catch(() => {}); w.ready.then(then, then); } catch { then(); } }),
      ])]).then(() => { document.body.dataset.seen = JSON.stringify(seen); fetch("/done"); document.title = "tried"; });
    </script>`,
    );
    const lookup = async (name: string) => [{ address: name.startsWith("inside") ? CANARY : SITE, family: 4 as const }];
    await using browser = through([remote.url], {}, { lookup });
    const answer = await browser.fetch(site.url("/try"), { browser: { waitFor: "body[data-seen]" } });
    assert.match(answer.body as string, /&quot;here&quot;:&quot;none&quot;,&quot;blank&quot;:&quot;none&quot;/);
    assert.match(answer.body as string, /&quot;frame&quot;:&quot;undefined&quot;/);
    for (const url of [...targets, `https://inside.test:${canary.port}/`]) {
      const failed = await failureOf(browser.fetch(url));
      assert.equal(failed.reason, "private_address", url);
      assert.doesNotMatch(failed.message, /127\./);
    }
    assert.deepEqual(canary.log, []);
    assert.equal(canary.connections, 0);
    assert.equal(packets, 0);
    socket.close();
  });

  it("that does not reach the guarding proxy gets no page, and the failure says what to set", async () => {
    await using remote = await startRemoteChromium();
    await using site = await webSite({ "/": PAGE });
    // Nothing listens at the address that the browser is given.
    const proxy = { bind: "127.0.0.1", host: "127.0.0.9", port: 0 };
    await using browser = through([remote.url], { proxy });
    const failed = await failureOf(browser.fetch(site.url("/")));
    assert.equal(failed.reason, "browser_failed");
    assert.match(
      failed.message,
      /cannot reach the guarding proxy at http:\/\/127\.0\.0\.9:\d+ .*APP_BROWSER_PROXY_HOST/,
    );
    assert.equal(site.connections, 0);
    assert.equal(stateOf(browser, remote).state, "down");
    assert.match(browser.pool.problem!.message, /^127\.0\.0\.1:\d+: it cannot reach the guarding proxy/);
  });

  it("meets another server where the proxy should be: it gets no page either", async () => {
    await using remote = await startRemoteChromium();
    const other = createServer((_request, response) => response.end("hello"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.9", resolve));
    const { port } = other.address() as AddressInfo;
    await using site = await webSite({ "/": PAGE });
    await using browser = through([remote.url], { proxy: { bind: "127.0.0.1", host: "127.0.0.9", port } });
    assert.match((await failureOf(browser.fetch(site.url("/")))).message, /cannot reach the guarding proxy/);
    assert.equal(site.connections, 0);
    other.closeAllConnections();
    other.close();
  });

  it("uses a proxy that listens for other machines, which serves nobody without its password", async () => {
    await using remote = await startRemoteChromium();
    await using site = await webSite({ "/": PAGE });
    let address = "";
    await using browser = through([remote.url], { proxy: { bind: "0.0.0.0", host: "127.0.0.8", port: 0 } });
    site.on("/from", (request, response) => html(PAGE)(request, response));
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
    // The port is known to the browser only: it is found as the one that listens for all.
    await browser.pool.withPage({}, async ({ guest, page }) => {
      assert.equal(typeof guest.id, "string");
      const answer = await page.goto("http://guard.orb.invalid/");
      address = (await answer!.serverAddr())?.ipAddress ?? "";
      const { port } = (await answer!.serverAddr())!;
      for (const auth of ["", `Proxy-Authorization: Basic ${Buffer.from(`${guest.id}:x`).toString("base64")}\r\n`]) {
        const asked = connect(port, "127.0.0.8");
        asked.write(`GET ${site.url("/stolen")} HTTP/1.1\r\nHost: x\r\n${auth}\r\n`);
        const [said] = (await new Promise<Buffer>((resolve) => asked.once("data", resolve))).toString().split("\r\n");
        assert.equal(said, "HTTP/1.1 407 Proxy Authentication Required");
        asked.destroy();
      }
    });
    assert.equal(address, "127.0.0.8");
    assert.ok(site.log.every(({ path }) => path !== "/stolen"));
  });

  it("that is killed fails its pages as crashed; others go on, and it is used again when it is back", async () => {
    await using site = await webSite({ "/": PAGE, "/hold": never });
    await using first = await startRemoteChromium();
    await using second = await startRemoteChromium();
    await using browser = through([first.url, second.url]);
    await browser.pool.connect();
    // The least loaded one takes the next page: two pages, one each.
    const held = ["/hold?1", "/hold?2"].map((path) => failureOf(browser.fetch(site.url(path))));
    await Promise.all([site.hit("/hold?1"), site.hit("/hold?2")]);
    assert.deepEqual(
      browser.pool.browsers.map(({ pages }) => pages),
      [1, 1],
    );
    first.kill("SIGKILL");
    assert.equal((await Promise.race(held)).reason, "browser_crashed");
    assert.equal(stateOf(browser, second).pages, 1);
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
    await eventually("it is down", () => stateOf(browser, first).state === "down");
    await using back = await startRemoteChromium(first.port);
    await eventually("it is back", () => stateOf(browser, back).state === "up");
    assert.equal(browser.pool.problem, null);
    await browser.pool.close();
    for (const failure of await Promise.all(held)) assert.match(failure.reason, /browser_crashed|run_cancelled/);
  });

  it("that hangs fails its pages as crashed, and the other one takes them", async () => {
    await using site = await webSite({ "/": PAGE, "/hold": never });
    await using first = await startRemoteChromium();
    await using second = await startRemoteChromium();
    await using browser = through([first.url, second.url]);
    await browser.pool.connect();
    const held = failureOf(browser.fetch(site.url("/hold"), { timeoutMs: 240_000 }));
    await site.hit("/hold");
    first.kill("SIGSTOP");
    assert.equal((await held).reason, "browser_crashed");
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
    first.kill("SIGCONT");
    await eventually("it is back", () => stateOf(browser, first).state === "up");
  });

  it("gets no more pages than its limit: the next one waits, or opens in the local browser if there is one", async () => {
    await using remote = await startRemoteChromium();
    await using site = await webSite({ "/": PAGE, "/hold": never });
    await using browser = through([remote.url], { maxPages: 1 });
    const over = new AbortController();
    const held = browser.fetch(site.url("/hold"), { signal: over.signal }).catch(() => "released");
    await site.hit("/hold");
    let isDone = false;
    const next = browser.fetch(site.url("/")).finally(() => (isDone = true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(isDone, false);
    over.abort();
    await held;
    assert.equal((await next).status, 200);
    await using both = through([remote.url], { maxPages: 1, local: true }, { maxPages: 1 });
    const pages = ["/hold?1", "/hold?2"].map((path) => failureOf(both.fetch(site.url(path))));
    await Promise.all([site.hit("/hold?1"), site.hit("/hold?2")]);
    assert.notEqual(both.pool.browserPid, null);
    assert.equal(stateOf(both, remote).pages, 1);
    await both.pool.close();
    await Promise.all(pages);
  });

  it("leaves no page behind when our process closes", async () => {
    await using remote = await startRemoteChromium();
    await using site = await webSite({ "/hold": never });
    const targets = async () =>
      ((await (await fetch(`${remote.url}/json/list`)).json()) as { url: string }[]).map(({ url }) => url);
    const before = await targets();
    await using browser = through([remote.url]);
    const held = failureOf(browser.fetch(site.url("/hold")));
    await site.hit("/hold");
    assert.equal((await targets()).length, before.length + 1);
    await browser.pool.close();
    await held;
    while ((await targets()).length > before.length) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("that is trusted needs no proxy, and still binds credentials to their origin", async () => {
    await using remote = await startRemoteChromium();
    await using other = await webSite({ "/": PAGE }, CANARY);
    await using site = await webSite({ "/": PAGE });
    site.on("/away", sendTo(other.url("/")));
    await using browser = through([remote.url], { trusted: true });
    const credentials = {
      origin: site.origin,
      headers: { "x-key": "s3cret" },
      cookies: [],
      basic: null,
      localStorage: [],
    };
    assert.equal((await browser.fetch(site.url("/"), { credentials })).status, 200);
    assert.equal(site.log.at(-1)!.headers["x-key"], "s3cret");
    // The policy still refuses literal addresses of documents; here both are open for it.
    await browser.pool.withPage({ credentials }, async ({ page }) => {
      await page.goto(site.url("/away"));
    });
    assert.equal(other.log.at(-1)!.headers["x-key"], undefined);
    const via = { kind: "http", host: "127.0.0.9", port: 9 } as never;
    assert.equal((await failureOf(browser.fetch(site.url("/"), { via }))).reason, "request_invalid");
  });

  it("with a token in its URL that does not answer shows no token", async () => {
    await using site = await webSite({ "/": PAGE });
    await using refusing = await webSite({}, SITE);
    await using browser = through([`http://u:pass@${SITE}:${refusing.port}/?token=t0ken`]);
    const { message } = await failureOf(browser.fetch(site.url("/")));
    assert.match(message, /no browser of APP_BROWSER_URL can be used/);
    assert.doesNotMatch(message, /t0ken|pass/);
    assert.equal(refusing.log[0]?.headers.authorization, `Basic ${Buffer.from("u:pass").toString("base64")}`);
  });
});
