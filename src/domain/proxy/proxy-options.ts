/** The proxy setting of a run, as stored in its job and snapshot. */
export interface ProxyOptions {
  /** `pool`: one of the pool, chosen for each attempt. Otherwise a proxy's address as it may be shown. null: none. */
  proxy: string | null;
  /** Base64 of the sealed address with its credentials; null: it has none. */
  sealed_proxy: string | null;
}

export const NO_PROXY: ProxyOptions = { proxy: null, sealed_proxy: null };

/** Instead of an address: a proxy of the pool. */
export const POOL = "pool";

/** The proxy setting of a run of any kind; runs of earlier versions have none. */
export function proxyOptionsOf(kind: string, snapshot: unknown): ProxyOptions {
  const { recipe, options, ...download } = (snapshot ?? {}) as { recipe?: unknown; options?: unknown };
  const holder = (kind === "page" ? recipe : kind === "crawl" ? options : kind === "download" ? download : null) ?? {};
  const { proxy, sealed_proxy } = holder as Partial<ProxyOptions>;
  return { proxy: proxy ?? null, sealed_proxy: sealed_proxy ?? null };
}

export function wantsPool(kind: string, snapshot: unknown): boolean {
  return proxyOptionsOf(kind, snapshot).proxy === POOL;
}
