import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, before, describe, it } from "node:test";
import { FetchFailure } from "../../../src/domain/run/failure.ts";
import type { Upstream } from "../../../src/domain/proxy/upstream.ts";
import { parseAddressPolicy } from "../../../src/net/address.ts";
import {
  browserGate,
  CANARY,
  html,
  plain,
  sendTo,
  SITE,
  startBrowser,
  type TestBrowser,
  type TestSite,
  webSite,
} from "../../support/browser-kit.ts";
import { FULL } from "../../support/gate.ts";
import { failureOf } from "../../support/net.ts";
import { startProxies } from "../../support/proxies.ts";
import { eventually } from "./processes.ts";

const LONG = "This sentence is long enough to be taken for the content of a page.";

/** Every way in which a page may try to reach `target`; the page is done when it asks for /done. */
const ATTEMPTS: Record<string, (target: string) => string> = {
  image: (t) => `<img src="${t}" onerror="done()" onload="done()">`,
  script: (t) => `<script src="${t}" onerror="done()" onload="done()"></script>`,
  module: (t) => `<script type=module src="${t}" onerror="done()" onload="done()"></script>`,
  stylesheet: (t) => `<link rel=stylesheet href="${t}" onerror="done()" onload="done()">`,
  "css import": (t) => `<style>@import url("${t}");</style><script>soon()</script>`,
  "css picture": (t) => `<div style="background: url(${t}); height: 9px">x</div><script>soon()</script>`,
  font: (t) =>
    `<style>@font-face { font-family: f; src: url("${t}") }</style><p style="font-family: f">x</p><script>soon()</script>`,
  iframe: (t) => `<iframe src="${t}" onload="done()"></iframe>`,
  "iframe in a document of its own": (t) => `<iframe srcdoc='<img src="${t}">' onload="done()"></iframe>`,
  object: (t) => `<object data="${t}" onerror="done()" onload="done()"></object><script>soon()</script>`,
  embed: (t) => `<embed src="${t}" type="text/html"><script>soon()</script>`,
  video: (t) => `<video src="${t}" onerror="done()" autoplay></video>`,
  fetch: (t) => `<script>fetch("${t}", { mode: "no-cors" }).finally(done)</script>`,
  "fetch with credentials": (t) =>
    `<script>fetch("${t}", { mode: "no-cors", credentials: "include", method: "POST", body: "x" }).finally(done)</script>`,
  xhr: (t) => `<script>const x = new XMLHttpRequest(); x.open("GET", "${t}"); x.onloadend = done; x.send()</script>`,
  beacon: (t) => `<script>navigator.sendBeacon("${t}", "x"); soon()</script>`,
  "keep-alive fetch": (t) => `<script>fetch("${t}", { keepalive: true, mode: "no-cors" }).finally(done)</script>`,
  websocket: (t) =>
    `<script>const w = new WebSocket("${t.replace("http", "ws")}"); w.onerror = w.onopen = done</script>`,
  "event stream": (t) => `<script>const e = new EventSource("${t}"); e.onerror = e.onopen = done</script>`,
  popup: (t) => `<script>window.open("${t}"); soon()</script>`,
  "popup without opener": (t) =>
    `<a id=a href="${t}" target=_blank rel=noopener>x</a><script>a.click(); soon()</script>`,
  "script that leaves": (t) => `<script>soon(); location.href = "${t}"</script>`,
  refresh: (t) => `<meta http-equiv=refresh content="0; url=${t}"><script>soon()</script>`,
  "form that is sent": (t) =>
    `<form id=f method=post action="${t}"><input name=a value=b></form><script>soon(); f.submit()</script>`,
  "form in a frame": (t) =>
    `<iframe name=x></iframe><form id=f target=x action="${t}"></form><script>soon(); f.submit()</script>`,
  prefetch: (t) => `<link rel=prefetch href="${t}"><script>soon()</script>`,
  preload: (t) => `<link rel=preload as=script href="${t}"><script>soon()</script>`,
  preconnect: (t) => `<link rel=preconnect href="${t}"><link rel=dns-prefetch href="${t}"><script>soon()</script>`,
  prerender: (t) =>
    `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${t}"]}],"prerender":[{"source":"list","urls":["${t}"]}]}</script><script>soon()</script>`,
  ping: (t) => `<a id=a href="#x" ping="${t}">x</a><script>a.click(); soon()</script>`,
  worker: (t) => `<script>try { const w = new Worker("${t}"); w.onerror = done } catch { done() }</script>`,
  "worker that fetches": (t) =>
    `<script>const w = new Worker(URL.createObjectURL(new Blob(["fetch('${t}', { mode: 'no-cors' }).finally(() => postMessage(1))"]))); w.onmessage = w.onerror = done</script>`,
  importScripts: (t) =>
    `<script>const w = new Worker(URL.createObjectURL(new Blob(["try { importScripts('${t}') } catch {} postMessage(1)"]))); w.onmessage = w.onerror = done</script>`,
  "shared worker": (t) =>
    `<script>const w = new SharedWorker(URL.createObjectURL(new Blob(["onconnect = () => fetch('${t}', { mode: 'no-cors' })"]))); soon()</script>`,
  "service worker": (t) =>
    `<script>navigator.serviceWorker.register("/sw.js?${encodeURIComponent(t)}").then(soon, done)</script>`,
  webtransport: (t) =>
    `<script>try { const w = new WebTransport("${t.replace("http:", "https:")}"); w.ready.then(done, done); w.closed.catch(() => {}) } catch { done() }</script>`,
  manifest: (t) => `<link rel=manifest href="${t}"><script>soon()</script>`,
  favicon: (t) => `<link rel=icon href="${t}"><script>soon()</script>`,
  "xml stylesheet": (t) => `<iframe src="/xslt?${encodeURIComponent(t)}" onload="done()"></iframe>`,
  svg: (t) => `<svg><image href="${t}" /><use href="${t}#x" /></svg><script>soon()</script>`,
};

/** These would end the page on which others try, too. */
const LEAVING = ["script that leaves", "refresh", "form that is sent"];
/** These mean something on a page itself only, not in a frame. */
const ON_THE_PAGE = ["popup", "popup without opener", "manifest", "favicon", "prefetch", "prerender"];

interface Group {
  onPage: string[];
  /** Each in a frame of its own. */
  framed: string[];
}

const NAMES = Object.keys(ATTEMPTS);
const together = NAMES.filter((name) => !LEAVING.includes(name) && !ON_THE_PAGE.includes(name));

/** Those that share a page: a page costs far more than an attempt. In the full run each has one of its own, too. */
const GROUPS: Group[] = [
  { onPage: ON_THE_PAGE, framed: together },
  ...[...LEAVING, ...(FULL ? [...ON_THE_PAGE, ...together] : [])].map((name) => ({ onPage: [name], framed: [] })),
];

const HELPERS = `<!doctype html><p>${LONG}</p><script>
  let told = false;
  const done = () => { if (!told) { told = true; fetch("/done" + location.search); } };
  const soon = () => setTimeout(done, 400);
</script>`;

describe("a page that tries to reach what is forbidden", browserGate, () => {
  let browser: TestBrowser;
  let site: TestSite;
  let canary: TestSite;
  let udp: { port: number; packets: number; close: () => void };
  let round = 0;

  before(async () => {
    canary = await webSite({}, CANARY);
    site = await webSite({
      "/done": plain("text/plain", "ok"),
      "/sw.js": (request, response) => {
        const target = decodeURIComponent((request.url ?? "").split("?")[1] ?? "");
        plain("text/javascript", `fetch("${target}", { mode: "no-cors" }); oninstall = () => skipWaiting()`)(
          request,
          response,
        );
      },
      "/xslt": (request, response) => {
        const target = decodeURIComponent((request.url ?? "").split("?")[1] ?? "");
        plain("text/xml", `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="${target}"?><a/>`)(
          request,
          response,
        );
      },
      "/hop": (request, response) =>
        sendTo(decodeURIComponent((request.url ?? "").split("?")[1] ?? ""))(request, response),
    });
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, CANARY, resolve));
    udp = { port: socket.address().port, packets: 0, close: () => socket.close() };
    socket.on("message", () => (udp.packets += 1));
    browser = startBrowser({
      lookup: async (name) => [{ address: name.startsWith("inside") ? CANARY : SITE, family: 4 }],
    });
  });
  after(async () => {
    await browser[Symbol.asyncDispose]();
    udp.close();
    await Promise.all([site[Symbol.asyncDispose](), canary[Symbol.asyncDispose]()]);
  });

  /** Opens the pages, and waits until they say that they have tried. */
  async function tryAll(
    target: (name: string, index: number) => string,
    more: { through?: TestBrowser; via?: Upstream; tried?: (name: string, said: Promise<void>) => Promise<void> } = {},
  ): Promise<void> {
    const { through = browser, via, tried = (_name, said) => said } = more;
    round += 1;
    const text = (name: string) => ATTEMPTS[name]!(target(name, NAMES.indexOf(name)));
    await Promise.all(
      GROUPS.map(async ({ onPage, framed }, number) => {
        const query = `?${round}-${number}`;
        const queryOf = (name: string) => `${query}-${NAMES.indexOf(name)}`;
        for (const name of framed) site.on(`/try${queryOf(name)}`, HELPERS + text(name));
        const frames = framed.map((name) => `<iframe src="/try${queryOf(name)}"></iframe>`);
        site.on(`/try${query}`, HELPERS + onPage.map(text).join("") + frames.join(""));
        const refused = Promise.withResolvers<void>();
        // Whoever leaves may have no time to say that it has tried: then the guard says so.
        const onRefused = () => framed.length === 0 && refused.resolve();
        await through.pool.withPage({ ...(via && { via }), onRefused }, async ({ page }) => {
          await page.goto(site.url(`/try${query}`), { waitUntil: "commit" });
          const said = (path: string) => Promise.race([site.hit(`/done${path}`), refused.promise]);
          await Promise.all([
            ...onPage.map((name) => tried(name, said(query))),
            ...framed.map((name) => tried(name, said(queryOf(name)))),
          ]);
        });
      }),
    );
  }

  it("by address sends it nothing, in whatever way it tries", async () => {
    await tryAll((name) => canary.url(`/${encodeURIComponent(name)}`));
    assert.deepEqual(canary.log, []);
    assert.equal(canary.connections, 0);
  });

  it("by redirect sends it nothing, in whatever way it tries", async () => {
    await tryAll((name) => site.url(`/hop?${encodeURIComponent(canary.url(`/${name}`))}`));
    assert.deepEqual(canary.log, []);
    assert.equal(canary.connections, 0);
  });

  it("by a name that resolves there sends it nothing, in whatever way it tries", async () => {
    await tryAll((name) => `http://inside.test:${canary.port}/${encodeURIComponent(name)}`);
    assert.deepEqual(canary.log, []);
    assert.equal(canary.connections, 0);
  });

  it("by address, redirect or name through a proxy that could reach it sends it nothing, and nothing past the proxy", async () => {
    await using proxies = await startProxies([
      { kind: "connect", host: SITE },
      { kind: "socks5", host: SITE },
    ]);
    const asked = site.log.length;
    const ways = [
      (name: string) => canary.url(`/${encodeURIComponent(name)}`),
      (name: string) => site.url(`/hop?${encodeURIComponent(canary.url(`/${name}`))}`),
      (name: string) => `http://inside.test:${canary.port}/${encodeURIComponent(name)}`,
    ];
    for (const [turn, { upstream }] of proxies.all.entries())
      await tryAll((name, index) => ways[(index + turn) % 3]!(name), { via: upstream });
    assert.deepEqual(canary.log, []);
    assert.equal(canary.connections, 0);
    for (const { seen } of proxies.all) assert.deepEqual([...new Set(seen.map(({ host }) => host))], [SITE]);
    // What passed may have been too late for the site, but the site has nothing that did not pass.
    const passed = proxies.all.flatMap(({ requests }) => requests);
    for (const { method, path } of site.log.slice(asked)) {
      const at = passed.indexOf(`${method} ${path} HTTP/1.1`);
      assert.ok(at >= 0, path);
      passed.splice(at, 1);
    }
  });

  it("would reach it in these ways if it were allowed", async () => {
    await using open = await webSite({}, CANARY);
    await using permitted = startBrowser({ policy: parseAddressPolicy([`${SITE}/31`]) });
    const sure = [
      "image",
      "iframe",
      "fetch",
      "xhr",
      "beacon",
      "event stream",
      "popup",
      "form that is sent",
      "worker that fetches",
    ];
    const pathOf = (name: string) => `/${encodeURIComponent(name)}`;
    const missing = () => {
      const arrived = new Set(open.log.map(({ path }) => decodeURIComponent(path.slice(1))));
      return NAMES.filter((name) => !arrived.has(name));
    };
    // A headless browser has no use for icons, manifests and the like; the others show that the attempts are real.
    const MOST = 12;
    // A busy machine says that it has tried before it has: nobody leaves the page on which most of them are before that.
    const enough = eventually("most of them arrive", () => {
      return missing().filter((name) => !LEAVING.includes(name)).length <= MOST;
    });
    await tryAll((name) => open.url(pathOf(name)), {
      through: permitted,
      tried: async (name, said) => {
        const arrived = open.hit(pathOf(name));
        if (sure.includes(name)) await arrived;
        else await Promise.race([LEAVING.includes(name) ? said : said.then(() => enough), arrived]);
      },
    });
    assert.ok(missing().length <= MOST, `these never arrive anywhere: ${missing().join(", ")}`);
    for (const name of sure) assert.ok(!missing().includes(name), name);
  });

  it("by WebRTC sends it no packet", async () => {
    const ice = (host: string) =>
      `{ urls: ["stun:${host}:${udp.port}", "turn:${host}:${udp.port}?transport=udp"], username: "u", credential: "c" }`;
    const tcp = `{ urls: "turn:${CANARY}:${canary.port}?transport=tcp", username: "u", credential: "c" }`;
    site.on(
      "/rtc",
      `${HELPERS}<script>(async () => {
      const peer = new RTCPeerConnection({ iceServers: [${ice(CANARY)}, ${ice("inside.test")}, ${tcp}] });
      peer.createDataChannel("x");
      await peer.setLocalDescription(await peer.createOffer());
      if (peer.iceGatheringState !== "complete") await new Promise((r) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && r(); setTimeout(r, 2500); });
      document.title = "gathered"; done();
    })()</script>`,
    );
    const answer = await browser.fetch(site.url("/rtc"), { browser: { waitFor: "title" } });
    assert.match(answer.body as string, /<title>gathered<\/title>/);
    assert.equal(udp.packets, 0);
    assert.equal(canary.connections, 0);
  });

  it("says that it was refused when the page itself is forbidden, and shows no address", async () => {
    site.on("/to-canary", sendTo(canary.url("/secret")));
    site.on("/to-name", sendTo(`http://inside.test:${canary.port}/`));
    site.on("/to-tls", sendTo(`https://inside.test:${canary.port}/`));
    site.on("/to-file", sendTo("file:///etc/passwd"));
    const targets: [string, string][] = [
      [canary.url("/"), "private_address"],
      [`http://inside.test:${canary.port}/`, "private_address"],
      [`https://inside.test:${canary.port}/`, "private_address"],
      [site.url("/to-canary"), "private_address"],
      [site.url("/to-name"), "private_address"],
      [site.url("/to-tls"), "private_address"],
      [site.url("/to-file"), "scheme_not_allowed"],
      ["file:///etc/passwd", "scheme_not_allowed"],
      ["ftp://127.0.0.2/", "scheme_not_allowed"],
      ["view-source:http://127.0.0.2/", "scheme_not_allowed"],
      ["chrome://version/", "scheme_not_allowed"],
      ["data:text/html,x", "scheme_not_allowed"],
    ];
    for (const [url, reason] of targets) {
      const failed = await failureOf(browser.fetch(url));
      assert.equal(failed.reason, reason, url);
      assert.doesNotMatch(failed.message, /127\.|::/, url);
    }
    assert.equal(canary.connections, 0);
  });

  it("does not show it files of the machine", async () => {
    site.on(
      "/files",
      `${HELPERS}<iframe src="file:///etc/passwd"></iframe><img src="file:///etc/passwd"><script>
        fetch("file:///etc/passwd").then((r) => r.text(), () => "refused").then((t) => { document.title = t; location.href = "file:///etc/passwd"; })</script>`,
    );
    const answer = await browser.fetch(site.url("/files"));
    assert.match(answer.body as string, /<title>refused<\/title>/);
    assert.doesNotMatch(answer.body as string, /root:/);
  });

  it("tells whoever opened the page which hosts were refused", async () => {
    const refused: string[] = [];
    site.on("/refused", html(`${HELPERS}<img src="http://inside.test:${canary.port}/" onerror="done()">`));
    await browser.pool.withPage({ onRefused: (host) => refused.push(host) }, async ({ page }) => {
      await page.goto(site.url("/refused"));
    });
    assert.deepEqual([...new Set(refused)], [`inside.test:${canary.port}`]);
  });

  it("cannot be used to learn the password of the proxy", async () => {
    site.on("/echo", (request, response) =>
      plain("application/json", JSON.stringify(request.headers))(request, response),
    );
    const answer = await browser.fetch(site.url("/echo"));
    assert.doesNotMatch(Buffer.from(answer.body as Uint8Array).toString(), /proxy/i);
    const error = await browser.fetch(canary.url("/")).catch((failure: unknown) => failure);
    assert.ok(error instanceof FetchFailure);
  });
});
