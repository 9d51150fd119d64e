import { getDomain } from "tldts";

/**
 * The site of a URL within a crawl: the registrable domain by the Public Suffix List, so `www.shop.example` and
 * `shop.example` are one site and two shops on `github.io` are two. IP addresses and names without a suffix (`localhost`)
 * are used as they are. A port other than 80 and 443 is part of it: that is another server.
 */
export function crawlSiteOf(url: URL): string {
  const host = url.hostname.replace(/\.$/, "");
  const domain = getDomain(host, { allowPrivateDomains: true }) ?? host;
  return url.port === "" || url.port === "80" || url.port === "443" ? domain : `${domain}:${url.port}`;
}
