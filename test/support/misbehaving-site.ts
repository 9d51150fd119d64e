import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Behaviour } from "./hostile-site.ts";
import { PATIENCE_MS } from "./patience.ts";

/** One request as it came, and what became of it. */
export interface Visit {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Counts the requests for this path, from 1. */
  nth: number;
  /** A browser asks: plain clients do not say what they will do with the answer. */
  byBrowser: boolean;
  /** null while it is neither answered nor cut off. */
  endedAt: number | null;
}

/** What a path does. Called with the whole request, its body included. */
export type Route = (visit: Visit, response: ServerResponse, site: MisbehavingSite) => void | Promise<void>;

/**
 * A web site that does what a test tells it to, path by path, and may be told otherwise while it runs. It keeps a record
 * of every request. What it can do stands in misbehaviours.ts; what breaks below HTTP is borrowed from `HostileSite`.
 * Use with `await using`: all sockets and timers end with it.
 */
export class MisbehavingSite implements AsyncDisposable {
  readonly visits: Visit[] = [];
  readonly #routes = new Map<string, Route>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #listeners = new Set<() => void>();
  readonly #counts = new Map<string, number>();
  #origin = "";

  private constructor(routes: Readonly<Record<string, Route>>) {
    for (const [path, route] of Object.entries(routes)) this.#routes.set(path, route);
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(routes: Readonly<Record<string, Route>> = {}, host = "127.0.0.1"): Promise<MisbehavingSite> {
    const site = new MisbehavingSite(routes);
    await new Promise<void>((resolve) => site.#server.listen(0, host, resolve));
    site.#origin = `http://${host}:${(site.#server.address() as AddressInfo).port}`;
    return site;
  }

  get origin(): string {
    return this.#origin;
  }

  /** As the product names it. */
  get name(): string {
    return new URL(this.#origin).host;
  }

  url(path: string): string {
    return this.#origin + path;
  }

  /** From the next request on the path does this; `*` is every path that nothing is said about. */
  on(path: string, route: Route): void {
    this.#routes.set(path, route);
  }

  of(path: string): Visit[] {
    return this.visits.filter((visit) => visit.path === path);
  }

  count(path: string): number {
    return this.#counts.get(path) ?? 0;
  }

  /** Requests that are neither answered nor cut off. */
  get open(): number {
    return this.visits.filter(({ endedAt }) => endedAt === null).length;
  }

  /** Resolves when the path has been asked for so often. */
  async visited(path: string, times = 1): Promise<Visit> {
    await this.when(() => this.count(path) >= times, `${path} is asked for ${times} times`);
    return this.of(path)[times - 1] as Visit;
  }

  /** Resolves when `done` holds; looks whenever a request comes or ends. */
  when(done: () => boolean, what: string, timeoutMs = PATIENCE_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (how: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        how();
      };
      const look = () => {
        if (done()) finish(resolve);
      };
      const seen = () => this.visits.map(({ method, path }) => `${method} ${path}`).join(", ");
      const timer = setTimeout(
        () => finish(() => reject(new Error(`waited ${timeoutMs} ms in vain until ${what}; so far: ${seen()}`))),
        timeoutMs,
      );
      this.#listeners.add(look);
      look();
    });
  }

  /** A timer that ends with the site. */
  after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.#origin);
    const path = url.pathname;
    const nth = this.count(path) + 1;
    this.#counts.set(path, nth);
    const visit: Visit = {
      method: request.method ?? "",
      path,
      query: url.searchParams,
      headers: request.headers,
      body: "",
      at: Date.now(),
      nth,
      byBrowser: request.headers["sec-fetch-mode"] !== undefined,
      endedAt: null,
    };
    this.visits.push(visit);
    response.once("close", () => {
      visit.endedAt = Date.now();
      this.#tell();
    });
    this.#tell();
    try {
      for await (const chunk of request) visit.body += String(chunk);
      await (this.#routes.get(path) ?? this.#routes.get("*") ?? nothingHere)(visit, response, this);
    } catch {
      // The caller went away in the middle of its request.
      request.socket.destroy();
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const nothingHere: Route = (_visit, response) => {
  response.writeHead(404, { "content-type": "text/html" }).end("<title>Not found</title><p>nothing here</p>");
};

/** What a hand-made server does on its connection, on this one. */
export function onTheWire(behaviour: Behaviour): Route {
  return ({ method, path, headers }, response) => {
    const socket = response.socket;
    if (socket === null) return;
    // Whatever is written from here on is the behaviour's own.
    response.detachSocket(socket);
    socket.once("close", () => response.emit("close"));
    behaviour(socket, { method, path, headers: headers as Record<string, string> });
  };
}
