import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { type BrowserPool, type BrowserPoolOptions, createBrowserPool } from "../../src/fetch/browser/pool.ts";
import { type BrowserStrategyOptions, createBrowserStrategy } from "../../src/fetch/browser/strategy.ts";
import type { PageAnswer, PageRequest } from "../../src/fetch/page.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { gate } from "./gate.ts";

/** The one address that these tests open; everything else of the loopback network stays closed. */
export const SITE = "127.0.0.2";
export const CANARY = "127.0.0.3";

export const chromiumPath = process.env["ORB_TEST_CHROMIUM"] ?? "";
export const browserGate = gate("browser tests", chromiumPath !== "", "no Chromium (ORB_TEST_CHROMIUM is empty)");

// A folder of its own for what browsers put down, so that a test can see what is left of it, and nothing is in the end.
// Its name is short: the path of a socket has room for some hundred characters, and processes of tests make one in another.
const scratch = mkdtempSync(join(tmpdir(), "ob-"));
// Services that run as a user of their own pass through it.
chmodSync(scratch, 0o711);
process.env["TMPDIR"] = scratch;
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

export const browserEnv: Record<string, string> = Object.fromEntries(
  ["PATH", "HOME", "LANG", "TMPDIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

export interface TestBrowser extends AsyncDisposable {
  pool: BrowserPool;
  fetch(url: string, more?: Partial<PageRequest>): Promise<PageAnswer>;
}

export function startBrowser(
  options: Partial<BrowserPoolOptions> & Pick<BrowserStrategyOptions, "isChallenge"> = {},
): TestBrowser {
  const { isChallenge, ...more } = options;
  const policy = options.policy ?? parseAddressPolicy([`${SITE}/32`]);
  const pool = createBrowserPool({
    clock: systemClock,
    log: silentLog,
    policy,
    userAgent: "orb-test/1.0",
    env: browserEnv,
    maxPages: 4,
    path: chromiumPath,
    ...more,
  });
  const strategy = createBrowserStrategy({
    pool,
    clock: systemClock,
    policy,
    ...(isChallenge === undefined ? {} : { isChallenge }),
  });
  return {
    pool,
    fetch: (url, request = {}) =>
      strategy.fetch({ url, credentials: null, timeoutMs: 60_000, maxBodyBytes: 5_000_000, ...request }),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

export type Route = (request: IncomingMessage, response: ServerResponse) => void;

export interface TestSite extends AsyncDisposable {
  origin: string;
  port: number;
  url(path: string): string;
  on(path: string, route: Route | string): void;
  /** Every request, in order. */
  log: { method: string; path: string; headers: IncomingMessage["headers"] }[];
  connections: number;
  /** Resolves when the path is asked for, or was already. */
  hit(path: string): Promise<void>;
}

/** A well-behaved web site; a string is a page. Misbehaviour below HTTP is for `HostileSite`. */
export async function webSite(routes: Record<string, Route | string> = {}, host = SITE): Promise<TestSite> {
  const table = new Map(Object.entries(routes));
  const sockets = new Set<Socket>();
  const waiting: { path: string; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    site.log.push({ method: request.method ?? "", path, headers: request.headers });
    for (const waiter of waiting) if (waiter.path === path) waiter.resolve();
    const route = table.get(path) ?? table.get(path.split("?")[0]!);
    if (route === undefined) response.writeHead(404, { "content-type": "text/html" }).end("<p>nothing here</p>");
    else if (typeof route === "function") route(request, response);
    else html(route)(request, response);
  });
  server.on("connection", (socket) => {
    site.connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://${host}:${port}`;
  const site: TestSite = {
    origin,
    port,
    url: (path) => origin + path,
    on: (path, route) => void table.set(path, route),
    log: [],
    connections: 0,
    hit: (path) =>
      site.log.some((request) => request.path === path)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ path, resolve })),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return site;
}

export const html =
  (text: string, status = 200, headers: Record<string, string> = {}): Route =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers }).end(text);

export const plain =
  (type: string, text: string | Buffer, headers: Record<string, string> = {}): Route =>
  (_request, response) =>
    void response.writeHead(200, { "content-type": type, ...headers }).end(text);

export const sendTo =
  (location: string, status = 302): Route =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();

export const after =
  (ms: number, route: Route): Route =>
  (request, response) =>
    void setTimeout(() => route(request, response), ms);
