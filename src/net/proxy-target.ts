/** The target of a proxied request. */
export interface ProxyTarget {
  /** WHATWG form. */
  hostname: string;
  port: number;
  /** As in a URL: without the default port of the scheme. */
  host: string;
  /** Path and query, unnormalized. */
  path: string;
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^\s:/?#@\\[\]]+):(\d{1,5})$/i;

/** The target of `CONNECT host:port`; null: malformed. */
export function tunnelTarget(authority: string): ProxyTarget | null {
  const match = AUTHORITY.exec(authority);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535) return null;
  // Tunnels nearly always carry TLS, so 443 is the default port.
  const url = URL.parse(`https://${match[1]}:${port}/`);
  return url === null ? null : { hostname: url.hostname, port, host: url.host, path: "" };
}

const ABSOLUTE = /^(?:http|ws):\/\/[^/?#]*([^#]*)/i;

/** The target of `GET http://host/path`; null: not an absolute http or ws URL. */
export function plainTarget(address: string): ProxyTarget | null {
  const match = ABSOLUTE.exec(address);
  const url = match === null ? null : URL.parse(address);
  if (match === null || url === null || url.username !== "" || url.password !== "") return null;
  const path = match[1]!.startsWith("/") ? match[1]! : `/${match[1]!}`;
  return { hostname: url.hostname, port: url.port === "" ? 80 : Number(url.port), host: url.host, path };
}

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

/** Flat name-value list without hop-by-hop headers. */
export function endToEnd(raw: readonly string[], replaced: ReadonlySet<string> = new Set()): string[] {
  const named = new Set<string>();
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]!.toLowerCase() !== "connection") continue;
    for (const name of raw[index + 1]!.split(",")) named.add(name.trim().toLowerCase());
  }
  // A hostile Connection header must not remove framing or Host.
  for (const name of ["content-length", "transfer-encoding", "host"]) named.delete(name);
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    if (!HOP_BY_HOP.has(name) && !named.has(name) && !replaced.has(name)) kept.push(raw[index]!, raw[index + 1]!);
  }
  return kept;
}

/** The user name and password of a Proxy-Authorization header. */
export function proxyCredentials(header: string | undefined): { username: string; password: string } | null {
  const match = /^basic ([a-z0-9+/=]+)$/i.exec(header ?? "");
  if (match === null) return null;
  const pair = Buffer.from(match[1]!, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? null : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
