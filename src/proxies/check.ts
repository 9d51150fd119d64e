/** Health checks of proxies. */
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Seal } from "../base/seal.ts";
import { isProxyFault } from "../domain/run/classify.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { ProxyOutcome } from "../domain/proxy/proxy-score.ts";
import { CHECKED_AT_ONCE } from "../domain/proxy/proxy-refresh.ts";
import { discardBody } from "../net/buffer-sink.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { ProxyRecord, ProxySeen } from "../store/ports/proxy-port.ts";
import { upstreamOf } from "./sealed-upstream.ts";

export interface CheckDeps {
  /** Its connect timeout must not be below `timeoutMs`: the check itself bounds the time. */
  http: Pick<HttpClient, "fetch" | "reach">;
  clock: Clock;
  seal: Seal;
  /** null: only reachability is checked. */
  checkUrl: string | null;
  timeoutMs: number;
}

/** Extra time to learn why no tunnel was established, after the timeout. */
const FAILURE_GRACE_MS = 500;

/** `proxyAtFault`: the proxy is at fault, not the fetched address. */
type Result = { at: number } & (
  | { good: true; latencyMs: number }
  | { good: false; proxyAtFault: boolean; why: string }
);

/** Results of checking these proxies, in the same order. Throws the abort reason of the signal. */
export async function checkProxies(
  deps: CheckDeps,
  proxies: readonly ProxyRecord[],
  signal: AbortSignal,
): Promise<ProxySeen[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    while (next < proxies.length) {
      signal.throwIfAborted();
      const index = next++;
      results[index] = await checkOne(deps, proxies[index]!, signal);
    }
  };
  await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, work));
  // When no proxy gets through, the checked address may be down: proxies that worked before stay usable.
  const anyReached = results.some(({ good }) => good);
  const good = deps.checkUrl === null ? "reached" : "good";
  return proxies.map(({ id }, index) => {
    const result = results[index]!;
    return { id, outcome: toOutcome(result, good, anyReached), at: result.at, site: null };
  });
}

async function checkOne(deps: CheckDeps, proxy: ProxyRecord, signal: AbortSignal): Promise<Result> {
  const { clock } = deps;
  const startedAt = clock.monotonic();
  try {
    const status = await probe(deps, proxy, signal);
    const at = clock.now();
    if (status < 200 || status >= 300)
      return { at, good: false, proxyAtFault: false, why: `the check returned HTTP ${status}` };
    return { at, good: true, latencyMs: Math.round(clock.monotonic() - startedAt) };
  } catch (error) {
    signal.throwIfAborted();
    // Credentials that cannot be decrypted make the proxy unusable as well.
    const proxyAtFault = !(error instanceof FetchFailure) || isProxyFault(error.failure);
    return { at: clock.now(), good: false, proxyAtFault, why: messageOf(error) };
  }
}

async function probe(
  { http, seal, checkUrl, timeoutMs }: CheckDeps,
  proxy: ProxyRecord,
  signal: AbortSignal,
): Promise<number> {
  const via = upstreamOf(seal, proxy);
  if (checkUrl === null) {
    await http.reach(via, signal);
    return 200;
  }
  const limits = {
    connectMs: timeoutMs,
    headersMs: timeoutMs,
    idleMs: timeoutMs,
    totalMs: timeoutMs + FAILURE_GRACE_MS,
  };
  return (await http.fetch({ url: checkUrl, via, limits, signal }, discardBody)).status;
}

function toOutcome(result: Result, good: "good" | "reached", anyReached: boolean): ProxyOutcome {
  if (result.good) return { kind: good, latencyMs: result.latencyMs };
  return { kind: result.proxyAtFault || anyReached ? "fault" : "unsure", why: result.why };
}
