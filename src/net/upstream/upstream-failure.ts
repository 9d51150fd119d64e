import { FetchFailure, type FailureReason } from "../../domain/run/failure.ts";
import { shownUpstream, type Upstream } from "../../domain/proxy/upstream.ts";

/**
 * Failures between us and a proxy. Before the destination is sent, the fault is certainly the proxy's; afterwards a
 * refusal may come from the site behind it. Messages never contain credentials, and no cause is kept: errors of the
 * SOCKS library contain the password.
 */
export function unreachable(via: Upstream, why: string): FetchFailure {
  return proxyFailure("proxy_unreachable", via, `cannot be used: ${why}`);
}

export function signInRefused(via: Upstream): FetchFailure {
  return proxyFailure(
    "proxy_auth",
    via,
    via.credentials === null ? "requires a user name and password" : "rejected the user name or password",
  );
}

export function tunnelRefused(via: Upstream, why: string): FetchFailure {
  return proxyFailure("proxy_refused", via, `made no connection to the site: ${why}`);
}

export function tunnelLate(via: Upstream, ms: number): FetchFailure {
  return proxyFailure("proxy_timeout", via, `made no connection to the site within ${ms} ms`);
}

/** Maps a failed connection to the proxy itself to the proxy's failure. */
export function connectionToProxyFailed(via: Upstream, error: FetchFailure): FetchFailure {
  // Without the address, which the guard refused.
  if (error.failure.code === "forbidden_target")
    return new FetchFailure(
      "proxy_forbidden",
      "the proxy is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network",
    );
  return unreachable(via, error.message);
}

function proxyFailure(reason: FailureReason, via: Upstream, what: string): FetchFailure {
  return new FetchFailure(reason, `the proxy ${shownUpstream(via)} ${what}`);
}
