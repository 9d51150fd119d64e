import { decodePercent } from "../text/url.ts";

/** An upstream proxy: its address and credentials. */
export const UPSTREAM_SCHEMES = ["http", "https", "socks5"] as const;
export type UpstreamScheme = (typeof UPSTREAM_SCHEMES)[number];

export interface Upstream {
  scheme: UpstreamScheme;
  /** In WHATWG form: a name, an IPv4 address, or an IPv6 address in brackets. */
  hostname: string;
  port: number;
  /** null: it asks for none. */
  credentials: { username: string; password: string } | null;
}

/** Placeholder for credentials in a displayed address. */
const HIDDEN = "***";

const DEFAULT_PORTS: Readonly<Record<UpstreamScheme, number>> = { http: 80, https: 443, socks5: 1080 };

/** A proxy as people write it, `scheme://user:password@host:port`; a string says what is wrong, without repeating any of it. */
export function parseUpstream(text: string): Upstream | string {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text.trim()) ?? [];
  const known = UPSTREAM_SCHEMES.find((name) => name === scheme.toLowerCase());
  if (known === undefined)
    return `expected a proxy such as http://host:8080, https://host or socks5://user:password@host:1080`;
  // WHATWG URL parsing treats it as a slash.
  if (rest.includes("\\")) return "contains a backslash: in a user name or password, write it as %5C";
  const port = /:(\d+)\/?$/.exec(rest)?.[1];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return "has an invalid port";
  // WHATWG URL parsing does not normalise the host of other schemes.
  const url = URL.parse(`http://${rest}`);
  if (url === null || url.hostname === "")
    return rest.includes("@")
      ? "has no readable host: in a user name or password, write / ? # and @ as %2F %3F %23 and %40"
      : "has no host";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return "has text after its port";
  if ([url.username, url.password].includes(HIDDEN))
    return `is a masked value: ${HIDDEN} stands for a user name and password; enter the real ones`;
  const named = url.username !== "" || url.password !== "";
  return {
    scheme: known,
    hostname: url.hostname,
    port: port === undefined ? DEFAULT_PORTS[known] : Number(port),
    credentials: named ? { username: decodePercent(url.username), password: decodePercent(url.password) } : null,
  };
}

/** For display, without credentials. */
export function shownUpstream({ scheme, hostname, port, credentials }: Upstream): string {
  return `${scheme}://${credentials === null ? "" : `${HIDDEN}@`}${hostname}:${port}`;
}
