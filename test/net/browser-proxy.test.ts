import assert from "node:assert/strict";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { type BrowserProxy, type BrowserProxyOptions, startBrowserProxy } from "../../src/net/browser-proxy.ts";
import { FAILURE_HEADER } from "../../src/net/proxy-forward.ts";
import type { ProxyGuest } from "../../src/net/proxy-guest.ts";
import {
  answer,
  drip,
  flood,
  head,
  rawThenClose,
  redirect,
  reset,
  silence,
  startSite,
} from "../support/hostile-site.ts";

const SITE = "127.0.0.2";
const CANARY = "127.0.0.3";
const onlySite = parseAddressPolicy([`${SITE}/32`]);

type TestProxy = BrowserProxy & AsyncDisposable;

async function startProxy(options: Partial<BrowserProxyOptions> = {}): Promise<TestProxy> {
  const proxy = await startBrowserProxy({ policy: onlySite, clock: systemClock, ...options });
  return { ...proxy, [Symbol.asyncDispose]: () => proxy.close() };
}

const signIn = (guest: ProxyGuest) => `Basic ${Buffer.from(`${guest.id}:${guest.password}`).toString("base64")}`;

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

/** What a browser does for a plain address. */
function get(proxy: BrowserProxy, guest: ProxyGuest | null, url: string, headers: Record<string, string> = {}) {
  return send(proxy, url, {
    ...(guest === null ? {} : { "proxy-authorization": signIn(guest) }),
    ...headers,
  });
}

function send(proxy: BrowserProxy, path: string, headers: Record<string, string>, body = "", method = "GET") {
  return new Promise<Answer>((resolve, reject) => {
    const { hostname, port } = new URL(proxy.address);
    const agent = new Agent();
    const host = URL.parse(path)?.host ?? "x";
    const asked = request({ hostname, port, path, method, agent, headers: { host, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        agent.destroy();
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: Buffer.concat(chunks).toString("utf8"),
        });
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** What a browser does for https and for WebSockets: the first line of the answer, and the tunnel. */
function tunnel(proxy: BrowserProxy, guest: ProxyGuest | null, authority: string, extra = "") {
  return new Promise<{ line: string; socket: Socket }>((resolve, reject) => {
    const { hostname, port } = new URL(proxy.address);
    const socket = connect(Number(port), hostname);
    socket.on("error", reject);
    const auth = guest === null ? "" : `Proxy-Authorization: ${signIn(guest)}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${auth}${extra}\r\n`);
    socket.once("data", (chunk: Buffer) => resolve({ line: chunk.toString("latin1").split("\r\n")[0]!, socket }));
  });
}

const closed = (socket: Socket) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve()).resume()));

describe("a browser behind the guarding proxy", () => {
  it("gets pages, bodies and statuses, without the headers that concern the proxy", async () => {
    await using site = await startSite({}, SITE);
    site.on(
      "/page",
      answer(203, "hello", { "x-own": "1", "keep-alive": "timeout=5", connection: "x-gone", "x-gone": "1" }),
    );
    await using proxy = await startProxy();
    const guest = proxy.admit();
    const got = await get(proxy, guest, site.url("/page?a=b%20c&d=|"), {
      "proxy-connection": "keep-alive",
      "x-mine": "2",
      connection: "x-dropped",
      "x-dropped": "3",
    });
    assert.equal(got.status, 203);
    assert.equal(got.body, "hello");
    assert.equal(got.headers["x-own"], "1");
    assert.equal(got.headers["x-gone"], undefined);
    const [seen] = site.log;
    assert.equal(seen!.path, "/page?a=b%20c&d=|");
    assert.equal(seen!.headers["host"], new URL(site.url("/")).host);
    assert.equal(seen!.headers["x-mine"], "2");
    for (const name of ["proxy-authorization", "proxy-connection", "x-dropped"])
      assert.equal(seen!.headers[name], undefined);
    assert.equal(guest.bytes, 5);
  });

  it("uses one connection to the site for several requests", async () => {
    await using site = await startSite({ "/": answer(200, "hello") }, SITE);
    await using proxy = await startProxy();
    const guest = proxy.admit();
    for (let index = 0; index < 5; index += 1) assert.equal((await get(proxy, guest, site.url("/"))).body, "hello");
    assert.equal(site.connections, 1);
  });

  it("sends a form on, in both ways of framing it", async () => {
    await using site = await startSite({ "/": answer(200, "taken") }, SITE);
    await using proxy = await startProxy();
    const auth = { "proxy-authorization": signIn(proxy.admit()) };
    assert.equal((await send(proxy, site.url("/"), { ...auth, "content-length": "3" }, "a=1", "POST")).body, "taken");
    assert.equal(site.log[0]!.headers["content-length"], "3");
    assert.equal(
      (await send(proxy, site.url("/"), { ...auth, "transfer-encoding": "chunked" }, "a=1", "POST")).body,
      "taken",
    );
    assert.equal(site.log[1]!.headers["transfer-encoding"], "chunked");
  });

  it("tunnels whatever it likes to a site that is allowed", async () => {
    await using site = await startSite({ "/": answer(200, "through the tunnel") }, SITE);
    await using proxy = await startProxy();
    const { line, socket } = await tunnel(proxy, proxy.admit(), `${SITE}:${site.port}`);
    assert.match(line, /^HTTP\/1\.1 200 /);
    const text = new Promise<string>((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())));
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    assert.match(await text, /through the tunnel/);
    socket.destroy();
  });

  it("upgrades a plain connection to a WebSocket", async () => {
    await using site = await startSite({}, SITE);
    site.on("/ws", (socket) => {
      socket.write(head(101, { connection: "Upgrade", upgrade: "websocket" }));
      socket.write("frame");
    });
    await using proxy = await startProxy();
    const guest = proxy.admit();
    const { hostname, port } = new URL(proxy.address);
    const socket = connect(Number(port), hostname);
    const text = new Promise<string>((resolve) => {
      let all = "";
      socket.on("data", (chunk: Buffer) => (all += chunk.toString()).endsWith("frame") && resolve(all));
    });
    socket.write(
      `GET ${site.url("/ws").replace("http", "ws")} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Proxy-Authorization: ${signIn(guest)}\r\n\r\n`,
    );
    assert.match(await text, /^HTTP\/1\.1 101 /);
    assert.equal(site.log[0]!.headers["upgrade"], "websocket");
    assert.equal(site.log[0]!.headers["proxy-authorization"], undefined);
    socket.destroy();
  });
});

describe("somebody else on the machine", () => {
  it("cannot use the proxy without a password that it gave out", async () => {
    await using site = await startSite({ "/": answer(200, "hello") }, SITE);
    await using proxy = await startProxy();
    const guest = proxy.admit();
    const wrong = { "proxy-authorization": `Basic ${Buffer.from(`${guest.id}:guess`).toString("base64")}` };
    const refused = await send(proxy, site.url("/"), wrong);
    assert.equal(refused.status, 407);
    assert.match(refused.headers["proxy-authenticate"]!, /^Basic/);
    assert.equal((await get(proxy, null, site.url("/"))).status, 407);
    assert.match((await tunnel(proxy, null, `${SITE}:${site.port}`)).line, / 407 /);
    guest.end();
    assert.equal((await get(proxy, guest, site.url("/"))).status, 407, "the password ends with the context");
    assert.equal(site.connections, 0);
  });

  it("cannot make it speak of anything but absolute http addresses", async () => {
    await using proxy = await startProxy();
    const guest = proxy.admit();
    for (const path of ["/", "file:///etc/passwd", "ftp://127.0.0.2/", "https://127.0.0.2/", "http://a:b@127.0.0.2/"])
      assert.equal((await get(proxy, guest, path)).status, 400, path);
    for (const authority of ["127.0.0.2", "127.0.0.2:0", "127.0.0.2:70000", "a@127.0.0.2:80", "127.0.0.2/x:80"])
      assert.match((await tunnel(proxy, guest, authority)).line, / 400 /, authority);
  });

  it("cannot crash it with garbage, half a request or a reset", async () => {
    await using site = await startSite({ "/": answer(200, "still here") }, SITE);
    await using proxy = await startProxy();
    const { hostname, port } = new URL(proxy.address);
    for (const bytes of [
      "\u0000\u0001garbage\r\n\r\n",
      "GET http://",
      `CONNECT x:1 HTTP/1.1\r\n${"a: b\r\n".repeat(40_000)}`,
      "",
    ]) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      await new Promise<void>((resolve) => socket.write(bytes === "" ? "x" : bytes, () => resolve()));
      socket.resetAndDestroy();
      await closed(socket);
    }
    assert.equal((await get(proxy, proxy.admit(), site.url("/"))).body, "still here");
  });
});

describe("a target that the guard refuses", () => {
  it("sees no connection, however it is written, and the page's context hears of it", async () => {
    await using canary = await startSite({ "/": answer(200, "secret") }, CANARY);
    await using proxy = await startProxy({
      lookup: async (name) => [
        { address: name === "half.test" ? SITE : CANARY, family: 4 },
        { address: CANARY, family: 4 },
      ],
    });
    const refused: string[] = [];
    const guest = proxy.admit({ onRefused: (host) => refused.push(host) });
    const { port } = canary;
    const hosts = [
      CANARY,
      "127.3",
      "2130706435",
      "0x7f.3",
      "0177.0.0.3",
      "inside.test",
      "half.test",
      "[::ffff:127.0.0.3]",
      "127.0.0.3.",
    ];
    for (const host of hosts) {
      const plain = await get(proxy, guest, `http://${host}:${port}/`);
      assert.equal(plain.status, 502, host);
      assert.equal(plain.headers[FAILURE_HEADER], guest.id);
      assert.match(plain.body, /private_address/);
      assert.doesNotMatch(plain.body, /127\.|::/, "the text repeats the address");
      assert.match((await tunnel(proxy, guest, `${host}:${port}`)).line, / 502 /, host);
    }
    assert.equal(refused.length, hosts.length * 2);
    assert.equal(guest.failureOf(`127.0.0.3:${port}`)?.failure.reason, "private_address");
    assert.equal(canary.connections, 0);
  });

  it("is not reached by a name whose answer changes after it was checked", async () => {
    await using site = await startSite({ "/": answer(200, "hello", { connection: "close" }) }, SITE);
    await using canary = await startSite({ "/": answer(200, "secret") }, CANARY);
    let asked = 0;
    await using proxy = await startProxy({
      lookup: async () => [{ address: (asked += 1) === 1 ? SITE : CANARY, family: 4 }],
    });
    const guest = proxy.admit();
    assert.equal((await get(proxy, guest, `http://rebind.test:${site.port}/`)).body, "hello");
    assert.equal(asked, 1);
    await get(proxy, guest, `http://rebind.test:${canary.port}/`);
    assert.equal(canary.connections, 0);
  });

  it("is not followed to: a redirect is the browser's to ask for again", async () => {
    await using canary = await startSite({ "/": answer(200, "secret") }, CANARY);
    await using site = await startSite({ "/": redirect(canary.url("/")) }, SITE);
    await using proxy = await startProxy();
    assert.equal((await get(proxy, proxy.admit(), site.url("/"))).status, 302);
    assert.equal(canary.connections, 0);
  });
});

describe("a site that misbehaves", () => {
  it("is reported with the reason, and the proxy goes on [slow]", async () => {
    await using site = await startSite({ "/ok": answer(200, "fine") }, SITE);
    await using gone = await startSite({}, SITE);
    const nobody = gone.url("/");
    await gone[Symbol.asyncDispose]();
    site.on("/reset", reset());
    site.on("/garbage", rawThenClose("this is not HTTP at all\r\n\r\n"));
    site.on("/huge", rawThenClose(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(200_000)}\r\n\r\n`));
    site.on("/silent", silence);
    await using proxy = await startProxy({ idleMs: 3_000, lookup: async () => [] });
    const guest = proxy.admit();
    const reasonOf = async (url: string) => {
      const got = await get(proxy, guest, url);
      assert.equal(got.headers[FAILURE_HEADER], guest.id);
      return got.body.split(":")[0];
    };
    assert.equal(await reasonOf(site.url("/reset")), "connection_reset");
    assert.equal(await reasonOf(site.url("/garbage")), "malformed_response");
    assert.equal(await reasonOf(site.url("/huge")), "headers_too_large");
    assert.equal(await reasonOf(site.url("/silent")), "timeout_idle");
    assert.equal(await reasonOf(nobody), "connection_refused");
    assert.equal(await reasonOf("http://gone.test/"), "dns_failed");
    assert.equal((await get(proxy, guest, site.url("/ok"))).body, "fine");
  });

  it("cannot make a cut answer look complete", async () => {
    await using site = await startSite({}, SITE);
    site.on("/length", rawThenClose(head(200, { "content-length": 100 }) + "half"));
    site.on("/chunks", reset(`${head(200, { "transfer-encoding": "chunked" })}4\r\nhalf\r\n`));
    await using proxy = await startProxy();
    const guest = proxy.admit();
    for (const path of ["/length", "/chunks"]) await assert.rejects(get(proxy, guest, site.url(path)), path);
  });

  it("is asked again when it gave up a kept connection, and the browser does not notice", async () => {
    await using site = await startSite({}, SITE);
    let times = 0;
    site.on("/", (socket, asked) => {
      times += 1;
      if (times === 2) socket.resetAndDestroy();
      else answer(200, `answer ${times}`)(socket, asked);
    });
    await using proxy = await startProxy();
    const guest = proxy.admit();
    assert.equal((await get(proxy, guest, site.url("/"))).body, "answer 1");
    assert.equal((await get(proxy, guest, site.url("/"))).body, "answer 3");
  });

  it("is cut off when a page has moved more than it may, and other pages are not", async () => {
    await using site = await startSite({ "/ok": answer(200, "fine") }, SITE);
    site.on("/flood", flood(head(200), Buffer.alloc(64 * 1024, "x")));
    await using proxy = await startProxy();
    const greedy = proxy.admit({ maxBytes: 1_000_000 });
    const modest = proxy.admit();
    await assert.rejects(get(proxy, greedy, site.url("/flood")));
    assert.ok(greedy.bytes < 3_000_000, `${greedy.bytes} bytes came through`);
    assert.match((await get(proxy, greedy, site.url("/ok"))).body, /body_too_large/);
    assert.equal(greedy.failureOf("any.test")?.failure.reason, "body_too_large");
    assert.equal((await get(proxy, modest, site.url("/ok"))).body, "fine");
    const tunnelled = proxy.admit({ maxBytes: 100_000 });
    const { socket } = await tunnel(proxy, tunnelled, `${SITE}:${site.port}`);
    socket.write("GET /flood HTTP/1.1\r\nhost: x\r\n\r\n");
    await closed(socket);
  });
});

describe("the end", () => {
  it("of a context takes its connections along, and leaves those of others", async () => {
    await using site = await startSite({}, SITE);
    site.on("/drip", drip(head(200), "x", 20));
    await using proxy = await startProxy();
    const [one, other] = [proxy.admit(), proxy.admit()];
    const authority = `${SITE}:${site.port}`;
    const first = await tunnel(proxy, one, authority);
    const second = await tunnel(proxy, other, authority);
    const dripping = get(proxy, one, site.url("/drip"));
    await site.hit("/drip");
    one.end();
    await assert.rejects(dripping);
    await closed(first.socket);
    assert.equal(second.socket.destroyed, false);
    second.socket.destroy();
  });

  it("of the proxy closes every connection on both sides", async () => {
    await using site = await startSite({}, SITE);
    site.on("/drip", drip(head(200), "x", 20));
    const proxy = await startProxy();
    const guest = proxy.admit();
    const { socket } = await tunnel(proxy, guest, `${SITE}:${site.port}`);
    const dripping = get(proxy, guest, site.url("/drip"));
    await site.hit("/drip");
    const siteClosed = new Promise<void>((resolve) => {
      let left = 2;
      site.onClose(() => (left -= 1) === 0 && resolve());
    });
    await Promise.all([proxy.close(), assert.rejects(dripping), closed(socket), siteClosed]);
    await assert.rejects(get(proxy, guest, site.url("/drip")), /ECONNREFUSED/);
  });

  it("of too many connections at once is a refusal, not a crash", async () => {
    await using site = await startSite({ "/": answer(200, "hello") }, SITE);
    await using proxy = await startProxy();
    const guest = proxy.admit({ maxConnections: 2 });
    const authority = `${SITE}:${site.port}`;
    const open = [await tunnel(proxy, guest, authority), await tunnel(proxy, guest, authority)];
    assert.match((await tunnel(proxy, guest, authority)).line, / 502 /);
    assert.match((await get(proxy, guest, site.url("/"))).body, /too many connections/);
    for (const { socket } of open) socket.destroy();
  });
});
