/** Proxies as the API returns them, without credentials. */
import { OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { ProxyState } from "../../domain/proxy/proxy-score.ts";
import { shownUpstream, type UpstreamScheme } from "../../domain/proxy/upstream.ts";
import type { ProxyRecord } from "../../store/ports/proxy-port.ts";
import type { OrchestratorDeps } from "../deps.ts";

export interface ProxyView {
  id: string;
  /** `***@` replaces user name and password. */
  proxy: string;
  scheme: UpstreamScheme;
  host: string;
  port: number;
  has_credentials: boolean;
  state: ProxyState;
  score: number;
  latency_ms: number | null;
  successes: number;
  failures: number;
  blocks: number;
  resting_until: string | null;
  last_error: string | null;
  checked_at: string | null;
  used_at: string | null;
  created_at: string;
}

export interface ProxyListView {
  total: number;
  usable: number;
  resting: number;
  disabled: number;
  unchecked: number;
  proxies: ProxyView[];
}

const NOBODY = { username: "", password: "" };

function toProxyView(proxy: ProxyRecord): ProxyView {
  const { id, scheme, hostname, port, sealed, state } = proxy;
  return {
    id,
    proxy: shownUpstream({ scheme, hostname, port, credentials: sealed === null ? null : NOBODY }),
    scheme,
    host: hostname,
    port,
    has_credentials: sealed !== null,
    state,
    score: Math.round(proxy.score * 1000) / 1000,
    latency_ms: proxy.latencyMs === null ? null : Math.round(proxy.latencyMs),
    successes: proxy.successes,
    failures: proxy.failures,
    blocks: proxy.blocks,
    resting_until: state === "resting" ? isoOrNull(proxy.restUntil) : null,
    last_error: proxy.lastError,
    checked_at: isoOrNull(proxy.checkedAt),
    used_at: isoOrNull(proxy.usedAt),
    created_at: isoOf(proxy.createdAt),
  };
}

type Deps = Pick<OrchestratorDeps, "store">;

/** Newest first, with totals over all of them. */
export async function listProxies(
  { store }: Deps,
  filter: { state?: ProxyState; after?: string; limit: number },
): Promise<ProxyListView> {
  const { total, usable, resting, disabled, unchecked } = await store.countProxies();
  return { total, usable, resting, disabled, unchecked, proxies: (await store.proxies(filter)).map(toProxyView) };
}

export async function showProxy({ store }: Deps, id: string): Promise<ProxyView> {
  const proxy = await store.proxy(id);
  if (proxy === null) throw new OrbError("not_found", `there is no proxy with the id ${id}`);
  return toProxyView(proxy);
}

export async function disableProxy({ store }: Deps, id: string, disabled: boolean): Promise<ProxyView> {
  return toProxyView(await store.setProxyDisabled(id, disabled));
}

export async function removeProxy({ store }: Deps, id: string): Promise<void> {
  await store.deleteProxy(id);
}
