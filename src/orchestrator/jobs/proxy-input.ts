/** Proxy options of a request. */
import { type FieldError, OrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { NO_PROXY, POOL, type ProxyOptions } from "../../domain/proxy/proxy-options.ts";
import { parseUpstream } from "../../domain/proxy/upstream.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkHost } from "../../net/guard.ts";
import { sealedExtract } from "../../proxies/sealed-upstream.ts";

/**
 * `before` is the current job: its masked URL refers to the stored one. A forbidden literal address throws
 * `forbidden_target` at once; one behind a host name fails the run.
 */
export function readProxy(
  requested: string | null | undefined,
  deps: { seal: Seal; policy: AddressPolicy },
  before: ProxyOptions | null,
  path: string,
  problems: FieldError[],
): ProxyOptions {
  if (requested === undefined || requested === null) return NO_PROXY;
  if (requested === POOL) return { proxy: POOL, sealed_proxy: null };
  if (before !== null && requested === before.proxy) return { proxy: before.proxy, sealed_proxy: before.sealed_proxy };
  const upstream = parseUpstream(requested);
  if (typeof upstream === "string") {
    problems.push({ path, message: `${upstream}; or "${POOL}" for the proxy pool` });
    return NO_PROXY;
  }
  refuseForbiddenProxy(path, upstream.hostname, deps.policy);
  return sealedExtract(deps.seal, upstream);
}

function refuseForbiddenProxy(path: string, hostname: string, policy: AddressPolicy): void {
  try {
    checkHost(hostname, policy);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const message = "the proxy is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network";
    throw new OrbError("forbidden_target", `${path}: ${message}`, { fields: [{ path, message }], cause: error });
  }
}
