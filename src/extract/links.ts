/** Links of a page. */
import type { AddressResolver } from "./dom/addresses.ts";
import type { Document, Element } from "./dom/nodes.ts";
import { textOf } from "./dom/text.ts";

export interface Link {
  /** Absolute, http or https, without fragment. */
  url: string;
  /** The visible text, else the image's alt text. */
  text: string;
  rel: string | null;
  /** The page or the link asks not to be followed. */
  nofollow: boolean;
}

const MAX_TEXT = 300;
const MAX_URL = 8192;

export function readLinks(document: Document, addresses: AddressResolver, nofollowPage: boolean): Link[] {
  const links: Link[] = [];
  for (const element of document.buckets.link) {
    const href = element.attr("href");
    if (href === undefined) continue;
    const url = linkTarget(href, addresses);
    if (url === null || isInTemplate(element)) continue;
    const rel = element.attr("rel") ?? null;
    links.push({ url, text: linkText(element), rel, nofollow: nofollowPage || isNofollow(element) });
  }
  return links;
}

/** The addresses alone, each once. */
export function readLinkUrls(document: Document, addresses: AddressResolver, limit: number): string[] {
  const urls = new Set<string>();
  for (const element of document.buckets.link) {
    const href = element.attr("href");
    if (href === undefined) continue;
    const url = linkTarget(href, addresses);
    if (url === null || urls.has(url) || isInTemplate(element)) continue;
    urls.add(url);
    if (urls.size === limit) break;
  }
  return [...urls];
}

function isNofollow(element: Element): boolean {
  const rel = element.attr("rel");
  return rel !== undefined && /(?:^|\s)nofollow(?:\s|$)/i.test(rel);
}

/** Null for links without a target page: fragments, mailto, tel, scripts. */
export function linkTarget(href: string, addresses: AddressResolver): string | null {
  const address = href.trim();
  if (address.startsWith("#") || address.length > MAX_URL) return null;
  const resolved = addresses.resolve(address);
  if (resolved === null || (resolved.protocol !== "https:" && resolved.protocol !== "http:")) return null;
  const fragment = resolved.href.indexOf("#");
  return fragment < 0 ? resolved.href : resolved.href.slice(0, fragment);
}

/** An element with the raw URL of another page. */
export interface Lead {
  element: Element;
  address: string;
}

/** Targets reachable from the page: links, frames, and a refresh. */
export function* leadsOf({ buckets }: Document): Generator<Lead> {
  for (const element of buckets.meta) {
    if (element.attr("http-equiv")?.trim().toLowerCase() !== "refresh") continue;
    const address = refreshTarget(element.attr("content") ?? "");
    if (address !== null) yield { element, address };
  }
  for (const element of buckets.frame) {
    const address = element.attr("src")?.trim();
    if (address !== undefined) yield { element, address };
  }
  for (const element of buckets.link) {
    const address = element.attr("href")?.trim();
    if (address !== undefined && !isNofollow(element)) yield { element, address };
  }
}

const REFRESH = /^\s*(?=[\d.])[\d.]*(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/is;

/** Parses `3; url=/next` like browsers; null: the page only reloads itself. */
function refreshTarget(content: string): string | null {
  const [, double, single, bare] = REFRESH.exec(content.slice(0, MAX_URL)) ?? [];
  const address = (double ?? single ?? bare ?? "").trim();
  return address === "" ? null : address;
}

function linkText(element: Element): string {
  const text = textOf(element);
  if (text !== "") return text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text;
  const named = element.attr("aria-label") ?? element.attr("title") ?? element.attr("alt");
  if (named !== undefined) return named.trim().slice(0, MAX_TEXT);
  for (let node = element.first; node !== null; node = node.kind === 1 ? (node.first ?? node.next) : node.next) {
    if (node.kind === 1 && node.tag.name === "img") return (node.attr("alt") ?? "").trim().slice(0, MAX_TEXT);
  }
  return "";
}

/** Template content is not part of the page, except in a declarative shadow root. */
export function isInTemplate(element: Element): boolean {
  for (let up = element.parent; up !== null; up = up.parent) {
    if (up.tag.name === "template") return up.attr("shadowrootmode") === undefined;
  }
  return false;
}
