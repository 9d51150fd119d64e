import assert from "node:assert/strict";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import { discardBody } from "../../src/net/buffer-sink.ts";
import { answer, startSite } from "../support/hostile-site.ts";
import { failureOf, PLENTY, testClient } from "../support/net.ts";

/** Those that never come to an end are waited for so long; the others have all the time that a busy machine takes. */
const CONNECT_MS = 1_500;
const WAITS = /nothing at all|drips|never|is silent/;

/** What the proxy does with a connection; it is called with the first bytes as well. */
type Trick = (socket: Socket, first: Buffer) => void;

interface HostileProxy extends AsyncDisposable {
  port: number;
  open: number;
  /** Bytes that the client's side has taken. */
  sent: number;
  quiet(): Promise<void>;
}

async function hostileProxy(trick: Trick, greet?: Trick): Promise<HostileProxy> {
  const sockets = new Set<Socket>();
  let idle = Promise.withResolvers<void>();
  idle.resolve();
  const server = createServer((socket) => {
    if (sockets.size === 0) idle = Promise.withResolvers();
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      proxy.sent += socket.bytesWritten;
      sockets.delete(socket);
      if (sockets.size === 0) idle.resolve();
    });
    greet?.(socket, Buffer.alloc(0));
    socket.once("data", (first: Buffer) => trick(socket, first));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: HostileProxy = {
    port: (server.address() as AddressInfo).port,
    get open() {
      return sockets.size;
    },
    sent: 0,
    quiet: () => idle.promise,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

const say =
  (...bytes: (string | number[])[]): Trick =>
  (socket) => {
    for (const part of bytes) socket.write(typeof part === "string" ? part : Buffer.from(part));
  };
const silence: Trick = () => {};
const hangUp: Trick = (socket) => socket.end();
const reset: Trick = (socket) => socket.resetAndDestroy();

const drip =
  (beginning: string | number[], piece: string): Trick =>
  (socket) => {
    say(beginning)(socket, Buffer.alloc(0));
    const timer = setInterval(() => socket.write(piece), 15);
    socket.once("close", () => clearInterval(timer));
  };

const flood =
  (beginning: string, piece: Buffer): Trick =>
  (socket) => {
    socket.write(beginning);
    const go = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on("drain", go);
    go();
  };

/** Past the greeting of SOCKS5: what is done with the request that follows. */
const afterHello =
  (trick: Trick): Trick =>
  (socket) => {
    socket.write(Buffer.from([5, 0]));
    socket.once("data", (request: Buffer) => trick(socket, request));
  };

const OK = "HTTP/1.1 200 OK\r\n";
const CASES: ["http" | "https" | "socks5", string, Trick, string, Trick?][] = [
  ["http", "says nothing at all", silence, "proxy_timeout"],
  ["http", "hangs up", hangUp, "proxy_refused"],
  ["http", "resets the connection", reset, "proxy_refused"],
  ["http", "hangs up within the head", (socket) => socket.end(`${OK}x-a: b\r\n`), "proxy_refused"],
  ["http", "answers in another protocol", say("SSH-2.0-x\r\n"), "proxy_unreachable"],
  ["http", "answers with bytes of TLS", say([22, 3, 1, 0, 5]), "proxy_unreachable"],
  ["http", "answers in HTTP/2", say("HTTP/2 200\r\n\r\n"), "proxy_unreachable"],
  ["http", "has no number for a status", say("HTTP/1.1 yes\r\n\r\n"), "proxy_unreachable"],
  ["http", "has a header that is none", say(`${OK}no colon here\r\n\r\n`), "proxy_unreachable"],
  ["http", "drips a head without end", drip(OK, "x-a: b\r\n"), "proxy_timeout"],
  ["http", "sends a head without end", flood(OK, Buffer.from("x-a: b\r\n".repeat(4096))), "proxy_unreachable"],
  ["http", "sends one line without end", flood("HTTP/1.1 200 ", Buffer.alloc(65_536, "a")), "proxy_unreachable"],
  ["http", "speaks behind the tunnel", say(`${OK}\r\nHTTP/1.1 200 OK\r\n\r\nmine`), "proxy_unreachable"],
  ["http", "sends an interim answer", say("HTTP/1.1 100 Continue\r\n\r\n"), "proxy_refused"],
  ["http", "redirects", say("HTTP/1.1 302 F\r\nLocation: http://127.0.0.1/\r\n\r\n"), "proxy_refused"],
  ["http", "is too busy", say("HTTP/1.1 503 No\r\nRetry-After: 9\r\n\r\n"), "proxy_refused"],
  ["http", "wants another password", say("HTTP/1.1 407 P\r\n\r\n"), "proxy_auth"],
  ["https", "speaks no TLS", say("HTTP/1.1 200 OK\r\n\r\n"), "proxy_unreachable"],
  ["https", "hangs up within the handshake", hangUp, "proxy_unreachable"],
  ["https", "resets within the handshake", reset, "proxy_unreachable"],
  ["https", "never shakes hands", silence, "proxy_unreachable"],
  ["https", "drips its handshake", drip([22, 3, 3, 64, 0], "x"), "proxy_unreachable"],
  ["socks5", "says nothing at all", silence, "proxy_unreachable"],
  ["socks5", "hangs up at once", hangUp, "proxy_unreachable"],
  ["socks5", "answers in another protocol", say("HTTP/1.1 400 Bad Request\r\n\r\n"), "proxy_unreachable"],
  ["socks5", "speaks SOCKS4", say([0, 90, 0, 0, 0, 0, 0, 0]), "proxy_unreachable"],
  ["socks5", "likes no way to sign in", say([5, 255]), "proxy_auth"],
  ["socks5", "wants a way to sign in that nobody offered", say([5, 1]), "proxy_unreachable"],
  ["socks5", "sends floods at once", flood("", Buffer.alloc(65_536, 5)), "proxy_unreachable"],
  ["socks5", "speaks before it is spoken to", silence, "proxy_unreachable", say(Buffer.alloc(9_000).toString())],
  ["socks5", "is silent once it knows where to", afterHello(silence), "proxy_timeout"],
  ["socks5", "hangs up once it knows where to", afterHello(hangUp), "proxy_refused"],
  ["socks5", "resets once it knows where to", afterHello(reset), "proxy_refused"],
  ["socks5", "cannot get there", afterHello(say([5, 4, 0, 1, 0, 0, 0, 0, 0, 0])), "proxy_refused"],
  ["socks5", "gives a reason that there is not", afterHello(say([5, 99, 0, 1, 0, 0, 0, 0, 0, 0])), "proxy_unreachable"],
  ["socks5", "lies about the kind of address", afterHello(say([5, 0, 0, 9, 1, 2, 3, 4, 5, 6])), "proxy_unreachable"],
  [
    "socks5",
    "says IPv4 and sends IPv6",
    afterHello(say([5, 0, 0, 1, ...Array<number>(18).fill(7)])),
    "proxy_unreachable",
  ],
  ["socks5", "announces a name that never comes", afterHello(say([5, 0, 0, 3, 255, 1])), "proxy_timeout"],
  ["socks5", "drips a name", afterHello(drip([5, 0, 0, 3, 255], "x")), "proxy_timeout"],
  ["socks5", "speaks behind the tunnel", afterHello(say([5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 72, 84])), "proxy_unreachable"],
];

describe("a proxy that", { concurrency: 6 }, () => {
  for (const [scheme, what, trick, reason, greet] of CASES) {
    it(`${what} (${scheme}) ends with ${reason}, its connection closed`, async () => {
      await using site = await startSite({ "/": answer(200, "hello") });
      await using proxy = await hostileProxy(trick, greet);
      await using client = testClient({
        limits: { ...PLENTY, ...(WAITS.test(what) ? { connectMs: CONNECT_MS } : {}) },
      });
      const via = parseUpstream(`${scheme}://joe:hunter2@127.0.0.1:${proxy.port}`) as Upstream;
      for (const url of [site.url("/"), site.url("/").replace("http:", "https:")]) {
        const failed = await failureOf(client.fetch({ url, via }, discardBody));
        assert.equal(failed.reason, reason, failed.message);
        assert.doesNotMatch(failed.message, /joe|hunter2/);
        assert.equal(failed.httpStatus, undefined);
        await proxy.quiet();
      }
      assert.equal(site.connections, 0);
      // Whatever it would have sent, it could only put a few socket buffers full of it on the way.
      assert.ok(proxy.sent < 16 * 1024 * 1024, `${proxy.sent} bytes`);
    });
  }
});
