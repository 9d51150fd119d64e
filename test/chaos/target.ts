import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PATIENCE_MS } from "../support/patience.ts";

/** One request as it was on the wire. */
export interface Hit {
  url: string;
  path: string;
  site: string;
  /** Taken from the query: `?r=name`. */
  resolver: string | null;
  /** What it called itself. */
  agent: string;
  start: number;
  /** When the answer was complete or the connection was gone; null while neither is so. */
  end: number | null;
  /** The whole answer was handed over. */
  answered: boolean;
}

export interface Answer {
  status?: number;
  body: string | Buffer;
  headers?: Record<string, string>;
  /** Before the answer begins. */
  delayMs?: number;
  /** Instead of an answer the connection breaks. */
  reset?: boolean;
}

/** What a path answers; `nth` counts the requests for it, from 1. */
export type Script = (path: string, nth: number, request: IncomingMessage) => Answer | Promise<Answer>;

/** Several web sites in this process, each on a port of its own, with a record of what really was on the wire. */
export class Target implements AsyncDisposable {
  readonly hits: Hit[] = [];
  readonly sites: string[] = [];
  script: Script = (path) => ({ body: bodyOf(path) });
  /** For every answer that does not name its own. */
  latencyMs = 0;
  /** Up to this share of the latency is added by chance. */
  jitter = 0.3;
  readonly mostPerSite = new Map<string, number>();
  readonly mostPerResolver = new Map<string, number>();
  readonly #servers: Server[] = [];
  readonly #now = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  #listeners = new Set<() => void>();

  static async start(sites: number): Promise<Target> {
    const target = new Target();
    for (let index = 0; index < sites; index += 1) {
      const server = createServer((request, response) => void target.#serve(request, response));
      server.keepAliveTimeout = 30_000;
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      target.#servers.push(server);
      target.sites.push(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    }
    return target;
  }

  url(path: string, site = 0): string {
    return `http://${this.sites[site]}${path}`;
  }

  /** Requests that have neither been answered nor cut off. */
  get open(): number {
    return this.hits.filter((hit) => hit.end === null).length;
  }

  count(path: string): number {
    return this.#counts.get(path) ?? 0;
  }

  /** Requests beyond the first for each path. */
  get repeats(): number {
    return this.hits.length - this.#counts.size;
  }

  /** Resolves when `done` holds, looked at whenever a request comes or ends. */
  when(done: () => boolean, what: string, timeoutMs = PATIENCE_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!done()) return;
        finish();
        resolve();
      };
      const finish = () => {
        clearTimeout(timer);
        this.#listeners.delete(look);
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`waited ${timeoutMs} ms in vain until ${what} (${this.hits.length} requests so far)`));
      }, timeoutMs);
      this.#listeners.add(look);
      look();
    });
  }

  /** Resolves with the next request that comes from now on. */
  async next(what: string, timeoutMs?: number): Promise<Hit> {
    const seen = this.hits.length;
    await this.when(() => this.hits.length > seen, what, timeoutMs);
    return this.hits[seen] as Hit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const site = String(request.headers.host);
    const url = new URL(request.url ?? "/", `http://${site}`);
    const path = url.pathname + url.search;
    const resolver = url.searchParams.get("r");
    const agent = request.headers["user-agent"] ?? "";
    const hit: Hit = { url: url.href, path, site, resolver, agent, start: Date.now(), end: null, answered: false };
    this.hits.push(hit);
    const nth = this.count(path) + 1;
    this.#counts.set(path, nth);
    this.#enter(site, this.mostPerSite);
    if (resolver !== null) this.#enter(resolver, this.mostPerResolver);
    const end = () => {
      if (hit.end !== null) return;
      hit.end = Date.now();
      this.#leave(site);
      if (resolver !== null) this.#leave(resolver);
      this.#tell();
    };
    response.on("close", end);
    this.#tell();
    const answer = await this.script(path, nth, request);
    const delay = answer.delayMs ?? this.latencyMs * (1 + Math.random() * this.jitter);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    if (hit.end !== null) return;
    if (answer.reset === true) {
      end();
      request.socket.destroy();
      return;
    }
    // The client may have the answer, and start its next request, before this process hears that it was sent.
    hit.answered = true;
    end();
    response.writeHead(answer.status ?? 200, {
      "content-type": "text/plain",
      "content-length": Buffer.byteLength(answer.body),
      ...answer.headers,
    });
    response.end(answer.body);
  }

  #enter(name: string, most: Map<string, number>): void {
    const now = (this.#now.get(name) ?? 0) + 1;
    this.#now.set(name, now);
    most.set(name, Math.max(most.get(name) ?? 0, now));
  }

  #leave(name: string): void {
    this.#now.set(name, (this.#now.get(name) ?? 0) - 1);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** What a page says by default: different for every path, and known to the test. */
export function bodyOf(path: string): string {
  return `this is ${path}\n`.repeat(3);
}
