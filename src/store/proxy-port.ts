/** The verbs and words of the store about proxies. */
import type { ProxyHealth, ProxyState } from "../domain/proxy-score.ts";
import type { UpstreamScheme } from "../domain/upstream.ts";
import type { NewRun, NewTask, RunRecord } from "./run-records.ts";

export interface NewProxy {
  scheme: UpstreamScheme;
  hostname: string;
  port: number;
  /** What it asks of whoever uses it, sealed; null: nothing. */
  sealed: Uint8Array | null;
  /** Tells two users of one proxy apart without telling who they are: a hash. Empty without credentials. */
  userHash: string;
}

export interface ProxyRecord extends Omit<NewProxy, "userHash">, ProxyHealth {
  id: string;
  successes: number;
  failures: number;
  blocks: number;
  checkedAt: number | null;
  usedAt: number | null;
  createdAt: number;
}

/** What uses and checks of a proxy have shown since it was last written. */
export interface ProxyNote extends ProxyHealth {
  id: string;
  /** Added to what was counted before. */
  successes: number;
  failures: number;
  blocks: number;
  checkedAt: number | null;
  usedAt: number | null;
  /** How it did at each site since then. */
  sites: readonly { site: string; successes: number; failures: number; blocks: number }[];
}

export interface ProxyCounts {
  total: number;
  /** The last check or use of these went well. */
  usable: number;
  unchecked: number;
  /** Also those whose rest is over: whether they are back is not known before the next use or check. */
  resting: number;
  disabled: number;
  /** When one of them was last used; null: never. */
  usedAt: number | null;
}

export interface ProxyVerbs {
  /** Adds those that are not there yet. Durable when it returns. */
  addProxies(proxies: readonly NewProxy[], now: number): Promise<{ added: number; existing: number }>;
  proxy(id: string): Promise<ProxyRecord | null>;
  /** Newest first; `after` is the id of one. */
  proxies(filter: { state?: ProxyState; after?: string; limit: number }): Promise<ProxyRecord[]>;
  /** All that may be used now or later, for a pool: up to 10,000, best first. */
  proxyPool(now: number): Promise<ProxyRecord[]>;
  /** How proxies have done at this site, those of which something is known: asked when a site is first fetched from. */
  proxySites(site: string): Promise<{ id: string; successes: number; failures: number; blocks: number }[]>;
  countProxies(): Promise<ProxyCounts>;
  /** What a note of uses says of the state does not count if a check has come after them. */
  noteProxies(notes: readonly ProxyNote[], now: number): Promise<void>;
  setProxyDisabled(id: string, disabled: boolean): Promise<ProxyRecord>;
  deleteProxy(id: string): Promise<void>;
  /**
   * Another number after every change of which proxies there are, and of a proxy's state: switched on or off, or by
   * notes. Notes that leave the states as they were do not count, so that a pool does not read itself anew all the time.
   */
  proxyVersion(): Promise<number>;

  /** Starts a run that checks proxies, unless one is at work: then that is the answer. Durable when it returns. */
  startRefresh(
    run: NewRun,
    tasks: readonly NewTask[],
    now: number,
  ): Promise<{ run: RunRecord; started: boolean; lanes: string[] }>;
  /** The newest run that checks proxies, or has checked them. */
  lastRefresh(): Promise<RunRecord | null>;
}
