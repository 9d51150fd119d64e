/** The guarding proxies of a pool, started when a browser first needs them. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { type BrowserProxy, type ProxyListen, startBrowserProxy } from "../../net/browser-proxy.ts";
import type { Lookup } from "../../net/resolver.ts";

interface GuardProxyOptions {
  policy: AddressPolicy;
  clock: Clock;
  lookup?: Lookup;
  tls?: { rejectUnauthorized?: boolean };
  silenceMs?: number;
  /** Where browsers of other machines reach it; absent: they use the one for this machine. */
  listen?: ProxyListen | undefined;
}

export class GuardProxies {
  readonly #options: GuardProxyOptions;
  #local: Promise<BrowserProxy> | null = null;
  #remote: Promise<BrowserProxy> | null = null;

  constructor(options: GuardProxyOptions) {
    this.#options = options;
  }

  /** Reachable from this machine only. */
  local(): Promise<BrowserProxy> {
    return (this.#local ??= this.#start());
  }

  async remote(): Promise<BrowserProxy> {
    const { listen } = this.#options;
    if (listen === undefined) return this.local();
    this.#remote ??= this.#start(listen);
    try {
      return await this.#remote;
    } catch (error) {
      this.#remote = null;
      const what = `the guarding proxy cannot listen on ${listen.bind} port ${listen.port}: ${messageOf(error)}`;
      const fix = "correct APP_BROWSER_PROXY_LISTEN and APP_BROWSER_PROXY_PORT";
      throw new FetchFailure("browser_failed", `${what}; ${fix}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    for (const proxy of [this.#local, this.#remote]) await (await proxy?.catch(() => null))?.close();
  }

  #start(listen?: ProxyListen): Promise<BrowserProxy> {
    const { policy, clock, lookup, tls, silenceMs } = this.#options;
    return startBrowserProxy({
      policy,
      clock,
      ...(lookup === undefined ? {} : { lookup }),
      ...(tls === undefined ? {} : { tls }),
      ...(silenceMs === undefined ? {} : { idleMs: silenceMs }),
      ...(listen === undefined ? {} : { listen }),
    });
  }
}
