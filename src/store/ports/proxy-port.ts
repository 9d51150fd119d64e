/** Store methods and records for proxies. */
import type { CheckedProxies } from "../../domain/proxy/proxy-refresh.ts";
import type { ProxyHealth, ProxyOutcome, ProxyState, SiteRecordOfProxy } from "../../domain/proxy/proxy-score.ts";
import type { UpstreamScheme } from "../../domain/proxy/upstream.ts";
import type { NewRun, NewTask, RunRecord } from "../records/run-records.ts";

export interface NewProxy {
  scheme: UpstreamScheme;
  hostname: string;
  port: number;
  /** Sealed credentials; null: none. */
  sealed: Uint8Array | null;
  /** A hash of the user, to distinguish two users of one proxy. Empty without credentials. */
  userHash: string;
  /** A hash of the password, to detect a changed one. Empty without credentials. */
  passwordHash: string;
}

export interface ProxyRecord extends Omit<NewProxy, "userHash" | "passwordHash">, ProxyHealth {
  id: string;
  successes: number;
  failures: number;
  blocks: number;
  checkedAt: number | null;
  usedAt: number | null;
  createdAt: number;
}

/** The outcome of one use or check of a proxy. */
export interface ProxySeen {
  id: string;
  outcome: ProxyOutcome;
  at: number;
  /** Null: a check. */
  site: string | null;
}

export interface ProxyCounts {
  total: number;
  /** Proxies whose last check or use succeeded. */
  usable: number;
  unchecked: number;
  /** Includes those whose rest is over: the next use or check shows whether they work again. */
  resting: number;
  disabled: number;
  /** Last use of any proxy; null: never. */
  usedAt: number | null;
}

export interface ProxyStore {
  /**
   * Adds new proxies. One with a changed password starts over as unchecked: the old password may have been the cause of
   * its rest. Durable when it returns.
   */
  addProxies(proxies: readonly NewProxy[], now: number): Promise<{ added: number; existing: number }>;
  proxy(id: string): Promise<ProxyRecord | null>;
  /** Newest first; `after` is a proxy id. */
  proxies(filter: { state?: ProxyState; after?: string; limit: number }): Promise<ProxyRecord[]>;
  /**
   * For a pool: proxies changed since a change number, in order of change. Starting with 0 and continuing with `next`
   * until the list is empty reads all of them, disabled ones included.
   */
  changedProxies(since: number, limit: number): Promise<{ proxies: ProxyRecord[]; next: number }>;
  /** Records of proxies at this site, as far as there are any: read before the first fetch from a site. */
  proxySites(site: string): Promise<(SiteRecordOfProxy & { id: string })[]>;
  countProxies(): Promise<ProxyCounts>;
  /**
   * Applies outcomes in this order to the stored state. A use that is older than the last check only counts, and so
   * does a check that is older than the last use.
   */
  noteProxies(seen: readonly ProxySeen[], now: number): Promise<void>;
  setProxyDisabled(id: string, disabled: boolean): Promise<ProxyRecord>;
  deleteProxy(id: string): Promise<void>;
  /**
   * Numbers of the newest change and of the newest removal (a removed row cannot be read). Changes are: added, removed,
   * enabled, disabled, new password, new state. Notes that keep the state do not count, so that a pool does not reload
   * all the time.
   */
  proxyVersion(): Promise<{ changed: number; removed: number }>;

  /** Starts a run that checks proxies, or returns the active one. Durable when it returns. */
  startRefresh(
    run: NewRun,
    tasks: readonly NewTask[],
    now: number,
  ): Promise<{ run: RunRecord; started: boolean; lanes: string[] }>;
  /** The newest proxy check, optionally only of these kinds. */
  lastRefresh(which?: readonly CheckedProxies[]): Promise<RunRecord | null>;
  /** Ids of the proxies for such a check, longest unchecked first, without disabled ones. */
  proxiesToCheck(which: CheckedProxies, now: number): Promise<string[]>;
}
