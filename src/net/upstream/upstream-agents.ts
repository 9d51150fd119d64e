import type { Socket } from "node:net";
import type { Agent as AgentTypes, buildConnector as Connector, Dispatcher } from "undici";
import type { Timer } from "../../base/clock.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { renameResets } from "../dialer.ts";
import { Agent, buildConnector } from "../undici.ts";
import { createTunnels, type TunnelOptions, type Tunnels, upstreamKey } from "./upstream-tunnel.ts";
import { connectFailure } from "../wire-failure.ts";

interface UpstreamAgentsOptions extends TunnelOptions {
  /** The same options as for direct agents. */
  agent: AgentTypes.Options;
}

interface Entry {
  readonly pool: Agent;
  readonly fresh: Agent;
  usedAt: number;
}

/** Agents are cheap and their connections idle out, but many proxies of a pool are used only once. */
const MAX_AGENTS = 256;
const IDLE_MS = 60_000;

/** Connection pools per upstream proxy, never shared between proxies or with direct requests. */
export class UpstreamAgents {
  /** See `Dialer.opening`. */
  opening = false;
  readonly #options: UpstreamAgentsOptions;
  readonly #tunnels: Tunnels;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** Evicted agents with requests in flight. */
  readonly #draining = new Set<Agent>();
  #sweep: Timer | null = null;

  constructor(options: UpstreamAgentsOptions) {
    this.#options = options;
    this.#tunnels = createTunnels(options);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** `fresh`: a connection for this request alone. Call for each request: agents may be evicted. */
  through(via: Upstream, fresh: boolean): Dispatcher {
    const key = upstreamKey(via);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= MAX_AGENTS) this.#evict(this.#entries.keys().next().value!);
      entry = this.#create(via);
    } else this.#entries.delete(key);
    entry.usedAt = this.#options.clock.monotonic();
    this.#entries.set(key, entry);
    this.#sweep ??= this.#options.clock.after(IDLE_MS, this.#onSweep);
    return fresh ? entry.fresh : entry.pool;
  }

  reach(via: Upstream, signal: AbortSignal): Promise<void> {
    return this.#tunnels.reach(via, signal);
  }

  async destroy(): Promise<void> {
    this.#sweep?.cancel();
    this.#tunnels.close();
    const agents = [...this.#draining, ...[...this.#entries.values()].flatMap(({ pool, fresh }) => [pool, fresh])];
    this.#entries.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  #create(via: Upstream): Entry {
    const options = { ...this.#options.agent, connect: this.#connector(via) };
    return {
      pool: new Agent({ ...options, pipelining: 1 }),
      // Pipelining 0 turns keep-alive off.
      fresh: new Agent({ ...options, pipelining: 0 }),
      usedAt: 0,
    };
  }

  /** Requests in flight complete. */
  #evict(key: string): void {
    const { pool, fresh } = this.#entries.get(key)!;
    this.#entries.delete(key);
    for (const agent of [pool, fresh]) {
      this.#draining.add(agent);
      const gone = () => this.#draining.delete(agent);
      agent.close().then(gone, gone);
    }
  }

  readonly #onSweep = (): void => {
    const { clock } = this.#options;
    this.#sweep = null;
    const before = clock.monotonic() - IDLE_MS;
    for (const [key, { usedAt }] of this.#entries) {
      if (usedAt > before) break;
      this.#evict(key);
    }
    if (this.#entries.size > 0) this.#sweep = clock.after(IDLE_MS, this.#onSweep);
  };

  #connector(via: Upstream): Connector.connector {
    const { tls, connectMs } = this.#options;
    // One per proxy: a resumed TLS session would reveal to a site that two proxies are one client.
    const secure = buildConnector({ ...tls, timeout: connectMs });
    return (target, callback) => {
      const { hostname, protocol, port } = target;
      this.#tunnels.open(via, hostname, Number(port) || (protocol === "https:" ? 443 : 80)).then(
        (socket) => {
          if (protocol !== "https:") return this.#deliver(socket.setKeepAlive(true, 60_000), callback);
          secure({ ...target, httpSocket: socket }, (error, secured) => {
            if (error === null) return this.#deliver(secured, callback);
            socket.destroy();
            return callback(connectFailure(error, hostname), null);
          });
          return undefined;
        },
        (error: Error) => callback(error, null),
      );
    };
  }

  #deliver(socket: Socket, callback: Connector.Callback): void {
    renameResets(socket);
    this.opening = true;
    try {
      callback(null, socket);
    } finally {
      this.opening = false;
    }
  }
}
