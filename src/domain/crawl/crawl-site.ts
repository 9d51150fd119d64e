import { getDomain } from "tldts";

/**
 * What a crawl calls one site: the registrable domain by the Public Suffix List, so `www.shop.example` and
 * `shop.example` are one and two shops on `github.io` are two; addresses and names without a suffix (`localhost`) count
 * whole. A port other than 80 and 443 is part of it: what runs there is another server.
 */
export function crawlSiteOf(url: URL): string {
  const host = url.hostname.replace(/\.$/, "");
  const domain = getDomain(host, { allowPrivateDomains: true }) ?? host;
  return url.port === "" || url.port === "80" || url.port === "443" ? domain : `${domain}:${url.port}`;
}
