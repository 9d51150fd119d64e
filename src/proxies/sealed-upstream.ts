/** Proxies as stored: credentials are sealed. */
import type { Seal } from "../base/seal.ts";
import type { ProxyOptions } from "../domain/proxy/proxy-options.ts";
import { parseUpstream, shownUpstream, type Upstream } from "../domain/proxy/upstream.ts";
import type { NewProxy, ProxyRecord } from "../store/ports/proxy-port.ts";

/** The context that sealed bytes are bound to; sealing and opening must use the same. */
const SEALED_FOR_POOL = "proxy of the pool";
const SEALED_FOR_RUN = "proxy of a run";

export function toNewProxy(seal: Seal, { scheme, hostname, port, credentials }: Upstream): NewProxy {
  const sealed = credentials === null ? null : seal.close(credentials, SEALED_FOR_POOL);
  // Without the password: a changed password does not make it another proxy.
  const userHash = credentials === null ? "" : seal.mark(`proxy\n${credentials.username}`);
  // Hashed together with the address, so that equal passwords do not show.
  const passwordHash = credentials === null ? "" : seal.mark(JSON.stringify([scheme, hostname, port, credentials]));
  return { scheme, hostname, port, sealed, userHash, passwordHash };
}

/** Throws `secret_key_wrong`. */
export function upstreamOf(
  seal: Seal,
  { scheme, hostname, port, sealed }: Pick<ProxyRecord, "scheme" | "hostname" | "port" | "sealed">,
): Upstream {
  const credentials = sealed === null ? null : (seal.open(sealed, SEALED_FOR_POOL) as Upstream["credentials"]);
  return { scheme, hostname, port, credentials };
}

/** For a proxy that a job specifies itself. */
export function sealedExtract(seal: Seal, upstream: Upstream): ProxyOptions {
  const sealed = upstream.credentials === null ? null : seal.close(upstream, SEALED_FOR_RUN);
  return {
    proxy: shownUpstream(upstream),
    sealed_proxy: sealed === null ? null : Buffer.from(sealed).toString("base64"),
  };
}

/** Throws `secret_key_wrong`. */
export function requestedUpstream(
  seal: Seal,
  { proxy, sealed_proxy: sealed }: ProxyOptions & { proxy: string },
): Upstream {
  if (sealed !== null) return seal.open(Buffer.from(sealed, "base64"), SEALED_FOR_RUN) as Upstream;
  const upstream = parseUpstream(proxy);
  if (typeof upstream === "string") throw new Error(`the proxy of the run ${upstream}`);
  return upstream;
}
