import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request,
  type RequestOptions,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import { sharesCookies, withoutBoundCookies } from "./bound.ts";
import type { ProxyGuest } from "./proxy-guest.ts";
import { endToEnd, type ProxyTarget } from "./proxy-target.ts";
import { upstreamKey } from "./upstream/upstream-tunnel.ts";
import { exchangeFailure } from "./wire-failure.ts";

/** Marks responses of the proxy itself. Carries the guest's id, which no site knows, so sites cannot forge it. */
export const FAILURE_HEADER = "x-orb-proxy-failure";

const MAX_HEADER_BYTES = 64 * 1024;

/** Opens a guarded connection, directly or through an upstream proxy. */
export type OpenConnection = (target: { hostname: string; port: number }, via: Upstream | undefined) => Promise<Socket>;

interface ForwarderOptions {
  open: OpenConnection;
  idleMs: number;
}

/**
 * Forwards plain requests. Connections to a site are reused for requests of any page: HTTP requests are
 * self-contained.
 */
export class Forwarder {
  readonly #agent: Agent;
  readonly #idleMs: number;

  constructor(options: ForwarderOptions) {
    this.#idleMs = options.idleMs;
    this.#agent = new GuardedAgent(options.open);
  }

  forward(guest: ProxyGuest, target: ProxyTarget, incoming: IncomingMessage, answer: ServerResponse): void {
    const refused = guest.refusal();
    if (refused !== null) return this.#fail(guest, target, answer, refused);
    this.#send(guest, target, incoming, answer, hasBody(incoming));
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(
    guest: ProxyGuest,
    target: ProxyTarget,
    incoming: IncomingMessage,
    answer: ServerResponse,
    hasBody: boolean,
  ): void {
    let outgoing: ClientRequest;
    try {
      outgoing = request({
        agent: this.#agent,
        host: target.hostname,
        port: target.port,
        method: incoming.method,
        path: target.path,
        headers: outgoingHeaders(guest, target, incoming) as unknown as Record<string, string>,
        setHost: false,
        maxHeaderSize: MAX_HEADER_BYTES,
        via: guest.options.via,
      } as RequestOptions & RouteOptions);
    } catch (error) {
      // Node validates headers; the browser's are valid, so the invalid one is a credential header.
      const refused = new FetchFailure("request_invalid", "a header of the credentials cannot be sent", {
        cause: error,
      });
      return this.#fail(guest, target, answer, refused);
    }
    let answered = false;
    const abort = () => outgoing.destroy();
    answer.once("close", abort);
    outgoing.setTimeout(this.#idleMs, () =>
      outgoing.destroy(new FetchFailure("timeout_idle", `no byte for ${this.#idleMs} ms`)),
    );
    outgoing.once("socket", (socket) => guest.holdUntil(socket, (done) => outgoing.once("close", done)));
    outgoing.on("error", (error) => {
      answer.removeListener("close", abort);
      if (answer.destroyed || answered) return void answer.destroy();
      // The site had closed the idle connection and never saw the request: retry on a new one.
      if (outgoing.reusedSocket && !hasBody && (error as NodeJS.ErrnoException).code === "ECONNRESET")
        return this.#send(guest, target, incoming, answer, hasBody);
      return this.#fail(guest, target, answer, failureOf(error));
    });
    outgoing.once("response", (response) => {
      answered = true;
      // A truncated response must not look complete to the browser.
      response.once("error", () => answer.destroy());
      response.once("aborted", () => answer.destroy());
      try {
        answer.writeHead(response.statusCode ?? 502, endToEnd(response.rawHeaders, CHUNKING));
      } catch (error) {
        outgoing.destroy();
        return this.#fail(guest, target, answer, failureOf(error as Error));
      }
      response.on("data", (chunk: Buffer) => guest.count(chunk.length));
      response.pipe(answer);
      return undefined;
    });
    if (!hasBody) return void outgoing.end();
    incoming.on("data", (chunk: Buffer) => guest.count(chunk.length));
    incoming.once("error", abort);
    incoming.pipe(outgoing);
    return undefined;
  }

  #fail(guest: ProxyGuest, target: ProxyTarget, answer: ServerResponse, failure: Error): void {
    const reason = failureOf(failure);
    guest.failed(target.host, reason);
    if (guest.ended || answer.headersSent || answer.destroyed) return void answer.destroy();
    const text = `${reason.failure.reason}: ${reason.message}\n`;
    answer.writeHead(502, {
      "content-type": "text/plain; charset=utf-8",
      "content-length": Buffer.byteLength(text),
      [FAILURE_HEADER]: guest.id,
    });
    answer.end(text);
    return undefined;
  }
}

interface RouteOptions {
  via: Upstream | undefined;
}

/** Opens guarded connections only. Those in use by a guest close with it. */
class GuardedAgent extends Agent {
  readonly #open: OpenConnection;

  constructor(open: OpenConnection) {
    super({ keepAlive: true, maxSockets: 64, maxTotalSockets: 1024, maxFreeSockets: 16, timeout: 4_000 });
    this.#open = open;
  }

  /** Connections are pooled per upstream proxy, and never shared with direct requests. */
  override getName(options: RequestOptions & Partial<RouteOptions>): string {
    return options.via === undefined ? super.getName(options) : `${super.getName(options)} ${upstreamKey(options.via)}`;
  }

  override createConnection(
    options: { host?: string | null; port?: number | string | null } & Partial<RouteOptions>,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#open({ hostname: options.host ?? "", port: Number(options.port) }, options.via).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  }
}

// Node frames the body itself.
const CHUNKING = new Set(["transfer-encoding"]);

function outgoingHeaders(guest: ProxyGuest, target: ProxyTarget, incoming: IncomingMessage): string[] {
  const { bound } = guest.options;
  const added = bound !== undefined && bound.origin === `http://${target.host}` ? Object.entries(bound.headers) : [];
  const replaced = new Set(["host", ...added.map(([name]) => name.toLowerCase())]);
  const forwarded = keepBoundCookies(guest, target, endToEnd(incoming.rawHeaders, replaced));
  return ["Host", target.host, ...forwarded, ...added.flat()];
}

/** Flat name-value list without the guest's cookies for another origin of this host. */
export function keepBoundCookies(guest: ProxyGuest, { host, hostname }: ProxyTarget, raw: string[]): string[] {
  const { bound } = guest.options;
  if (bound === undefined || !sharesCookies(bound, { origin: `http://${host}`, hostname })) return raw;
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const isCookie = raw[index]!.toLowerCase() === "cookie";
    const value = isCookie ? withoutBoundCookies(raw[index + 1]!, bound) : raw[index + 1]!;
    if (!isCookie || value !== "") kept.push(raw[index]!, value);
  }
  return kept;
}

function hasBody(incoming: IncomingMessage): boolean {
  return incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"] ?? 0) > 0;
}

function failureOf(error: Error): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (code === "HPE_HEADER_OVERFLOW")
    return new FetchFailure("headers_too_large", "the response headers are too large");
  if (code.startsWith("HPE_") || code.startsWith("ERR_INVALID") || code.startsWith("ERR_HTTP"))
    return new FetchFailure("malformed_response", `the response is not valid HTTP (${code})`);
  return exchangeFailure(error, false) as FetchFailure;
}
