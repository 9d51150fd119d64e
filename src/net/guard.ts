import { isIP } from "node:net";
import { FetchFailure } from "../domain/run/failure.ts";
import { type AddressPolicy, isAllowedAddress, isOwnSite } from "./address.ts";
import { decodePercent } from "../domain/text/url.ts";

/**
 * The first of three egress checks: the URL as written, at every hop. The dialer makes the other two (each resolved
 * address, the connected socket). Messages never repeat a refused address or credentials.
 */
export function checkUrl(url: string | URL, policy: AddressPolicy): URL {
  const parsed = typeof url === "string" ? parseUrl(url) : url;
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new FetchFailure(
      "scheme_not_allowed",
      `only http and https are fetched, not ${parsed.protocol.slice(0, 20)}`,
    );
  }
  if (parsed.hostname === "") throw new FetchFailure("url_not_allowed", "the URL has no host");
  checkHost(parsed.hostname, policy, parsed.protocol === "http:" ? Number(parsed.port || 80) : undefined);
  return parsed;
}

/**
 * Refuses an address literal outside the policy, except the ports of the demo site. A name passes: the resolver checks
 * its addresses. WHATWG parsing has already normalized 2130706433, 0x7f.1 and 0177.0.0.1 to 127.0.0.1.
 */
export function checkHost(hostname: string, policy: AddressPolicy, port?: number): void {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (isIP(literal) === 0 || isAllowedAddress(literal, policy)) return;
  if (!isOwnSite(literal, port, policy)) throw privateAddress();
}

export function privateAddress(hostname?: string): FetchFailure {
  const subject = hostname === undefined ? "the target" : `the host "${hostname}"`;
  return new FetchFailure(
    "private_address",
    `${subject} is not on the public internet; APP_ALLOW_PRIVATE_NETWORKS can allow its network`,
  );
}

/**
 * Removes `user:password@` from a URL and returns it as the value of an Authorization header; undefined: there was none.
 * The caller binds it to this URL's origin.
 */
export function takeCredentials(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const pair = `${decodePercent(url.username)}:${decodePercent(url.password)}`;
  url.username = "";
  url.password = "";
  return `Basic ${Buffer.from(pair, "utf8").toString("base64")}`;
}

function parseUrl(url: string): URL {
  const parsed = URL.parse(url);
  // The text is not repeated: it may hold a password.
  if (parsed === null) throw new FetchFailure("url_not_allowed", "the text is not a URL");
  return parsed;
}
