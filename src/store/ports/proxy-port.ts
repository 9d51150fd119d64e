/** Store methods and records for proxies. */
import type { CheckedProxies } from "../../domain/proxy/proxy-refresh.ts";
import type { ProxyHealth, ProxyOutcome, ProxyState, SiteRecordOfProxy } from "../../domain/proxy/proxy-score.ts";
import type { UpstreamScheme } from "../../domain/proxy/upstream.ts";
import type { NewRun, NewTask, RunRecord } from "../records/run-records.ts";

export interface NewProxy {
  scheme: UpstreamScheme;
  hostname: string;
  port: number;
  /** What it asks of whoever uses it, sealed; null: nothing. */
  sealed: Uint8Array | null;
  /** Tells two users of one proxy apart without telling who they are: a hash. Empty without credentials. */
  userHash: string;
  /** Tells whether its password is still the same one, in the same way. Empty without credentials. */
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

/** What one use or check of a proxy has shown. */
export interface ProxySeen {
  id: string;
  outcome: ProxyOutcome;
  at: number;
  /** Where it was used; null: it was a check. */
  site: string | null;
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

export interface ProxyStore {
  /**
   * Adds those that are not there yet. One whose password is another one now begins anew with that: what made it rest
   * may have been the old one. Durable when it returns.
   */
  addProxies(proxies: readonly NewProxy[], now: number): Promise<{ added: number; existing: number }>;
  proxy(id: string): Promise<ProxyRecord | null>;
  /** Newest first; `after` is the id of one. */
  proxies(filter: { state?: ProxyState; after?: string; limit: number }): Promise<ProxyRecord[]>;
  /**
   * For a pool: those that have changed since that change, the earliest change first, so that whoever begins with 0 and goes
   * on with `next` until there are none has read all of them as they are. Disabled ones are among them.
   */
  changedProxies(since: number, limit: number): Promise<{ proxies: ProxyRecord[]; next: number }>;
  /** How proxies have done at this site, those of which something is known: asked when a site is first fetched from. */
  proxySites(site: string): Promise<(SiteRecordOfProxy & { id: string })[]>;
  countProxies(): Promise<ProxyCounts>;
  /**
   * What was seen, in this order, upon what is known by now. A use that a check came after only counts, and so does a
   * check that a use came after.
   */
  noteProxies(seen: readonly ProxySeen[], now: number): Promise<void>;
  setProxyDisabled(id: string, disabled: boolean): Promise<ProxyRecord>;
  deleteProxy(id: string): Promise<void>;
  /**
   * The numbers of the newest change and of the newest removal, which leaves nothing that could be read. A change is that
   * a proxy comes, goes, is switched on or off, has another password, or another state. Notes that leave the state as it
   * was do not count, so that a pool does not read itself anew all the time.
   */
  proxyVersion(): Promise<{ changed: number; removed: number }>;

  /** Starts a run that checks proxies, unless one is at work: then that is the answer. Durable when it returns. */
  startRefresh(
    run: NewRun,
    tasks: readonly NewTask[],
    now: number,
  ): Promise<{ run: RunRecord; started: boolean; lanes: string[] }>;
  /** The newest run that checks proxies, or has checked them; of those that looked at these, if that is said. */
  lastRefresh(which?: readonly CheckedProxies[]): Promise<RunRecord | null>;
  /** Ids of those that such a check looks at: who was checked longest ago comes first. Nobody who is switched off. */
  proxiesToCheck(which: CheckedProxies, now: number): Promise<string[]>;
}
