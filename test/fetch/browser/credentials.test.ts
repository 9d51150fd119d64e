import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { type Credentials, noCredentials } from "../../../src/domain/text/credentials.ts";
import {
  browserGate,
  plain,
  sendTo,
  SITE,
  startBrowser,
  type TestBrowser,
  webSite,
} from "../../support/browser-kit.ts";
import { failureOf } from "../../support/net.ts";
import { selfSigned } from "../../support/certificate.ts";

const LONG = "This sentence is long enough to be taken for the content of a page.";
const SECRET = /k3y|t0ken|Basic|session-value/;

const given = (origin: string): Credentials => ({
  ...noCredentials(origin),
  headers: { "X-Api-Key": "k3y" },
  basic: { username: "us@er", password: "pa:ss" },
  cookies: [{ name: "session", value: "session-value" }],
});

interface SecureSite extends AsyncDisposable {
  origin: string;
  log: { path: string; headers: Record<string, string | string[] | undefined> }[];
  routes: Map<string, { status?: number; type?: string; location?: string; body?: string }>;
}

/** A site with a certificate that it made itself. */
async function secureSite(): Promise<SecureSite> {
  const log: SecureSite["log"] = [];
  const routes: SecureSite["routes"] = new Map();
  const server = createServer(selfSigned(), (request, response) => {
    log.push({ path: request.url ?? "", headers: request.headers });
    const route = routes.get(request.url ?? "");
    const headers = {
      "content-type": route?.type ?? "text/html",
      ...(route?.location ? { location: route.location } : {}),
    };
    response.writeHead(route?.status ?? (route === undefined ? 404 : 200), headers).end(route?.body ?? "");
  });
  server.on("upgrade", (request, socket) => {
    log.push({ path: request.url ?? "", headers: request.headers });
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, SITE, resolve));
  return {
    origin: `https://${SITE}:${(server.address() as AddressInfo).port}`,
    log,
    routes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

describe("what lets a page in", browserGate, () => {
  let browser: TestBrowser;
  before(() => {
    browser = startBrowser({ tls: { rejectUnauthorized: false } });
  });
  after(() => browser[Symbol.asyncDispose]());

  it("goes along with every request to its own origin, and with none to another", async () => {
    await using other = await webSite({ "/o.js": plain("text/javascript", ""), "/away": `<p>${LONG}</p>` });
    await using site = await webSite({
      "/": `<p>${LONG}</p><script src=/s.js></script><script src="${other.url("/o.js")}"></script><img src="/hop"><script>fetch("/data")</script>`,
      "/s.js": plain("text/javascript", ""),
      "/data": plain("application/json", "{}"),
      "/hop": sendTo(other.url("/i.png")),
      "/leave": sendTo(other.url("/away")),
    });
    await browser.fetch(site.url("/"), { credentials: given(site.origin) });
    await browser.fetch(site.url("/leave"), { credentials: given(site.origin) });
    await other.hit("/i.png");
    assert.ok(site.log.length >= 5);
    for (const { path, headers } of site.log) {
      assert.equal(headers["x-api-key"], "k3y", path);
      assert.equal(headers["authorization"], `Basic ${Buffer.from("us@er:pa:ss").toString("base64")}`, path);
      assert.match(headers["cookie"] ?? "", /session=session-value/, path);
    }
    assert.deepEqual([...new Set(other.log.map(({ path }) => path))].sort(), ["/away", "/i.png", "/o.js"]);
    for (const { path, headers } of other.log) {
      assert.equal(headers["x-api-key"], undefined, path);
      assert.equal(headers["authorization"], undefined, path);
      assert.equal(headers["cookie"] ?? "", "", path);
    }
  });

  it("does the same where the connection is encrypted, and stays behind on every redirect elsewhere", async () => {
    await using site = await secureSite();
    await using other = await secureSite();
    site.routes.set("/", {
      body: `<p>${LONG}</p><img src="/hop"><script src="${other.origin}/o.js"></script><script>fetch("/data")</script>`,
    });
    site.routes.set("/hop", { status: 302, location: `${other.origin}/i.png` });
    site.routes.set("/data", { type: "application/json", body: "{}" });
    site.routes.set("/leave", { status: 302, location: `${other.origin}/back` });
    other.routes.set("/back", { status: 302, location: `${site.origin}/end` });
    other.routes.set("/o.js", { type: "text/javascript" });
    site.routes.set("/end", { body: `<p>${LONG}</p>` });
    const answer = await browser.fetch(`${site.origin}/`, { credentials: given(site.origin) });
    assert.equal(answer.status, 200);
    const back = await browser.fetch(`${site.origin}/leave`, { credentials: given(site.origin) });
    assert.equal(back.finalUrl, `${site.origin}/end`);
    assert.deepEqual([...new Set(site.log.map(({ path }) => path))].sort(), ["/", "/data", "/end", "/hop", "/leave"]);
    for (const { path, headers } of site.log) assert.equal(headers["x-api-key"], "k3y", path);
    assert.ok(other.log.some(({ path }) => path === "/back"));
    assert.ok(other.log.some(({ path }) => path === "/i.png"));
    for (const { path, headers } of other.log) {
      assert.equal(headers["x-api-key"], undefined, path);
      assert.equal(headers["authorization"], undefined, path);
      assert.equal(headers["cookie"] ?? "", "", path);
    }
  });

  it("is a cookie that other ports of the host never see, by whatever way a page asks them", async () => {
    await using other = await webSite({ "/hopped": `<p>${LONG}</p>` });
    await using secureOther = await secureSite();
    await using workers = await secureSite();
    await using sockets = await secureSite();
    await using site = await webSite();
    await using secure = await secureSite();
    const script = (label: string) => `
      const ask = (origin) => fetch(origin + "/${label}-fetch", { mode: "no-cors", credentials: "include" }).catch(() => {});
      const socket = (origin) => new Promise((done) => {
        const one = new WebSocket(origin.replace("http", "ws") + "/${label}-socket");
        one.onclose = done;
      });
      const lines = "fetch('${workers.origin}/${label}-worker', { mode: 'no-cors', credentials: 'include' })";
      const worker = () => new Promise((done) => {
        const one = new Worker(URL.createObjectURL(new Blob([lines + ".catch(() => {}).then(() => postMessage(0))"])));
        one.onmessage = done;
      });
      document.cookie = "own=1";
      const places = ["${other.origin}", "${secureOther.origin}"];
      Promise.all([...places.map(ask), socket(location.origin), socket("${other.origin}"), socket("${sockets.origin}"), worker()])
        .then(() => document.body.append(Object.assign(document.createElement("i"), { id: "done", textContent: "." })));`;
    secureOther.routes.set("/hopped", { status: 302, location: `${secure.origin}/end` });
    secure.routes.set("/end", { body: `<p>${LONG}</p>` });
    for (const [path, to] of [
      ["/hop-plain", other.url("/hopped")],
      ["/hop-secure", `${secureOther.origin}/hopped`],
    ] as const) {
      site.on(path, sendTo(to));
      secure.routes.set(path, { status: 302, location: to });
    }
    const page = (label: string) =>
      `<body><p>${LONG}</p><img src="/hop-plain"><img src="/hop-secure"><script>${script(label)}</script>`;
    site.on("/", page("from-plain"));
    secure.routes.set("/", { body: page("from-secure") });
    for (const { origin, log } of [site, secure]) {
      const cookies = [{ name: "session", value: "session-value", secure: false }];
      const wishes = { credentials: { ...noCredentials(origin), cookies }, shareKey: origin };
      await browser.fetch(`${origin}/`, { ...wishes, browser: { waitFor: "#done" } });
      assert.ok(
        log.some(({ path }) => path.endsWith("-socket")),
        "a socket to its own origin is none of another",
      );
      for (const path of ["/hop-plain", "/hop-secure"]) await browser.fetch(origin + path, wishes);
      assert.ok(log.filter(({ path }) => path !== "/end").length >= 5);
      for (const { path, headers } of log)
        if (path !== "/end") assert.match(headers["cookie"] as string, /session=session-value/, path);
    }
    assert.match(secure.log.findLast(({ path }) => path === "/end")!.headers["cookie"] as string, /session-value/);
    const others = [...other.log, ...secureOther.log, ...workers.log, ...sockets.log];
    const asked = others.map(({ path }) => path);
    for (const path of ["/hopped", "/from-plain-fetch", "/from-secure-fetch", "/from-plain-worker"])
      assert.ok(asked.includes(path), `${path} is not among ${asked}`);
    for (const { path, headers } of others) assert.doesNotMatch(JSON.stringify(headers), SECRET, path);
    assert.ok(
      others.some(({ headers }) => headers["cookie"] === "own=1"),
      "what the page has set itself is shared as ever",
    );
  });

  it("is not sent at all when the page belongs to another origin", async () => {
    await using site = await webSite({ "/": `<p>${LONG}</p>` });
    await browser.fetch(site.url("/"), { credentials: given("http://127.0.0.9") });
    assert.doesNotMatch(JSON.stringify(site.log), SECRET);
  });

  it("may stand in the address, and is shown to nobody", async () => {
    await using site = await webSite({ "/": `<p>${LONG}</p>` });
    const answer = await browser.fetch(site.url("/").replace("//", "//us%40er:pa%3Ass@"));
    assert.equal(site.log[0]!.headers["authorization"], `Basic ${Buffer.from("us@er:pa:ss").toString("base64")}`);
    assert.doesNotMatch(JSON.stringify({ ...answer, body: "" }), /pa%3A|pa:ss/);
  });

  it("is never a cookie of another domain, nor one for the neighbours", async () => {
    await using site = await webSite({ "/": `<p>${LONG}</p>` });
    const cookies = [
      { name: "mine", value: "1", path: "/" },
      { name: "foreign", value: "2", domain: "example.com" },
    ];
    await browser.fetch(site.url("/"), { credentials: { ...noCredentials(site.origin), cookies } });
    assert.equal(site.log[0]!.headers["cookie"], "mine=1");
  });

  it("is named when it cannot be sent, and the browser goes on", async () => {
    await using site = await webSite({ "/": `<p>${LONG}</p>` });
    const none = noCredentials(site.origin);
    const reason = async (credentials: Credentials) =>
      (await failureOf(browser.fetch(site.url("/"), { credentials }))).reason;
    await browser.fetch(site.url("/"));
    const pid = browser.pool.browserPid;
    assert.equal(await reason({ ...none, headers: { "X-Key": "two\r\nlines: 1" } }), "request_invalid");
    assert.equal(await reason({ ...none, cookies: [{ name: "a", value: "b\r\nc", expires: -5 }] }), "request_invalid");
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
    assert.equal(browser.pool.browserPid, pid);
  });

  it("is what the page finds in its local storage", async () => {
    await using site = await webSite({
      "/": `<p>${LONG}</p><script>document.title = localStorage.getItem("token") ?? "none"</script>`,
    });
    const credentials = { ...noCredentials(site.origin), localStorage: [{ name: "token", value: "t0ken" }] };
    assert.match((await browser.fetch(site.url("/"), { credentials })).body as string, /<title>t0ken</);
    assert.match((await browser.fetch(site.url("/"))).body as string, /<title>none</, "the next page has none of it");
  });

  it("and what a page leaves behind is not there for the next one", async () => {
    await using site = await webSite();
    site.on("/", (_request, response) => {
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "left=1" });
      response.end(
        `<p>${LONG}</p><script>document.title = document.cookie + (localStorage.x ?? "no storage"); localStorage.x = "kept"</script>`,
      );
    });
    await browser.fetch(site.url("/"));
    const second = await browser.fetch(site.url("/"));
    assert.match(second.body as string, /<title>left=1no storage</);
    const pages = site.log.filter(({ path }) => path === "/");
    for (const { headers } of pages) assert.equal(headers["cookie"], undefined);
  });
});
