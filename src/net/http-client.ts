import type { Clock } from "../base/clock.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { AddressPolicy } from "./address.ts";
import { Deadlines } from "./deadlines.ts";
import { createDialer, type DialerOptions } from "./dialer.ts";
import { type BodySink, DEFAULT_LIMITS, type HttpLimits, type HttpRequest, type HttpResult } from "./http.ts";
import { createResolver, type Lookup } from "./resolver.ts";
import { ACCEPT_ENCODING, Transfer, type TransferContext } from "./transfer.ts";
import { Agent } from "./undici.ts";
import { UpstreamAgents } from "./upstream/upstream-agents.ts";

export interface HttpClientOptions {
  policy: AddressPolicy;
  clock: Clock;
  userAgent: string;
  limits?: Partial<HttpLimits>;
  lookup?: Lookup;
  maxConnectionsPerOrigin?: number;
  tls?: DialerOptions["tls"];
}

export interface HttpClient {
  /**
   * Any status is a result; a FetchFailure means that there was no usable response. Errors of the sink and the abort
   * reason of the signal are rethrown unchanged.
   */
  fetch(request: HttpRequest, sink: BodySink): Promise<HttpResult>;
  /** Checks that the proxy itself answers within `connectMs`, without a destination. Throws a FetchFailure. */
  reach(via: Upstream, signal: AbortSignal): Promise<void>;
  /** Fails requests in flight with `run_cancelled` and closes all connections. */
  close(): Promise<void>;
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock, policy, userAgent } = options;
  const limits: HttpLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const dialerOptions = {
    policy,
    clock,
    resolve: createResolver({ policy, clock, ...(options.lookup === undefined ? {} : { lookup: options.lookup }) }),
    connectMs: limits.connectMs,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
  };
  const dialer = createDialer(dialerOptions);
  // Idle connections close after 4 s, and undici's Agent drops an origin with its last connection: a crawl over 100,000
  // hosts keeps only those of the last seconds. `Deadlines` replaces undici's two timers per request.
  const agentOptions = {
    connections: options.maxConnectionsPerOrigin ?? 128,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: limits.maxHeaderBytes,
  };
  const direct = { ...agentOptions, connect: dialer.connect };
  const pool = new Agent({ ...direct, pipelining: 1 });
  let freshPool: Agent | null = null;
  let proxied: UpstreamAgents | null = null;
  let closed = false;
  const through = () => (proxied ??= new UpstreamAgents({ ...dialerOptions, agent: agentOptions }));
  const deadlines = new Deadlines(clock);
  const context: TransferContext = {
    policy,
    clock,
    limits,
    deadlines,
    userAgent,
    plainHeaders: ["user-agent", userAgent, "accept", "*/*", "accept-encoding", ACCEPT_ENCODING],
    opening: () => dialer.opening || proxied?.opening === true,
    pool,
    // Pipelining 0 turns keep-alive off.
    fresh: () => (freshPool ??= new Agent({ ...direct, pipelining: 0 })),
    through: (via, fresh) => through().through(via, fresh),
  };

  return {
    fetch(request, sink) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(clientClosed());
        new Transfer(context, request, sink, resolve, reject).start();
      });
    },
    async reach(via, signal) {
      if (closed) throw clientClosed();
      await through().reach(via, signal);
    },
    async close() {
      if (closed) return;
      closed = true;
      for (const transfer of deadlines.all()) (transfer as Transfer).fail(clientClosed());
      deadlines.stop();
      await Promise.all([pool.destroy(), freshPool?.destroy(), proxied?.destroy()]);
    },
  };
}

function clientClosed(): FetchFailure {
  return new FetchFailure("run_cancelled", "the program is stopping");
}
