/**
 * One page, one key. A page has two addresses: the one it is fetched by (WHATWG form without the fragment, otherwise
 * untouched, because servers may care about every byte) and a canonical one by which two links to the same page are
 * recognised. The canonical form may only undo differences that RFC 3986 calls equivalent, or that no server sees (the
 * root dot of a host, empty query parameters), plus tracking parameters and the order of differently named query
 * parameters; it must never make one page out of two.
 */

/**
 * Stored keys of different versions never match: raising it makes every crawl that is resumed fetch all its pages again.
 * It stays when a few spellings are joined; only pages that were stored under such a spelling are then fetched once more.
 */
const PAGE_KEY_VERSION = 1;

/** Added to links by newsletters and ad networks; servers ignore them when choosing what to answer. */
const TRACKING_PARAMETERS: ReadonlySet<string> = new Set([
  "gclid",
  "gclsrc",
  "gbraid",
  "wbraid",
  "gad_source",
  "gad_campaignid",
  "dclid",
  "srsltid",
  "_ga",
  "_gl",
  "fbclid",
  "fb_action_ids",
  "fb_action_types",
  "fb_source",
  "igshid",
  "igsh",
  "msclkid",
  "twclid",
  "ttclid",
  "li_fat_id",
  "yclid",
  "ysclid",
  "_openstat",
  "mc_cid",
  "mc_eid",
  "mkt_tok",
  "_hsenc",
  "_hsmi",
  "__hssc",
  "__hstc",
  "__hsfp",
  "hsCtaTracking",
  "vero_id",
  "vero_conv",
  "wickedid",
  "wickedsource",
  "ml_subscriber",
  "ml_subscriber_hash",
  "s_kwcid",
  "ef_id",
  "epik",
  "rb_clickid",
  "_branch_match_id",
]);

/** Whole families of the same kind. */
const TRACKING_PREFIXES: readonly string[] = ["utm_", "oly_"];

export function isTrackingParameter(name: string): boolean {
  return TRACKING_PARAMETERS.has(name) || TRACKING_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The address to fetch: resolved against `base`, in WHATWG form, without fragment. Null when it is not a URL. */
export function fetchUrl(input: string | URL, base?: string | URL): string | null {
  const url = typeof input === "string" ? URL.parse(input, base?.toString()) : input;
  return url === null ? null : withoutFragment(url.href);
}

/** The form by which pages are compared. Idempotent; never throws: what is not a URL comes back as it is. */
export function canonicalUrl(url: string | URL): string {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (parsed === null) return String(url);
  // The parser has already done host, punycode, default port and dot segments (also those written as %2e).
  const href = withoutFragment(parsed.href);
  if (!href.startsWith("http:") && !href.startsWith("https:")) return href;
  const pathAt = href.indexOf("/", href.indexOf("://") + 3);
  const origin = withoutRootDot(href.slice(0, pathAt));
  const queryAt = href.indexOf("?", pathAt);
  const path = href.slice(pathAt, queryAt < 0 ? href.length : queryAt);
  return origin + oneSpelling(path) + (queryAt < 0 ? "" : canonicalQuery(href.slice(queryAt + 1)));
}

/** `example.com.` is `example.com` to everybody but resolvers. Also at the end of an origin, and before a port. */
export function withoutRootDot(host: string): string {
  return host.endsWith(".") || host.includes(".:") ? host.replace(/(?<=[^.@/])\.(?=$|:\d+$)/, "") : host;
}

/** The unit of politeness: the host, with its port unless that is 80 or 443. */
export function siteOf(url: string | URL): string {
  const parsed = typeof url === "string" ? URL.parse(url) : url;
  if (parsed === null) return String(url);
  const hasUsualPort = parsed.port === "" || parsed.port === "80" || parsed.port === "443";
  return withoutRootDot(hasUsualPort ? parsed.hostname : parsed.host);
}

interface PageIdentity {
  url: string | URL;
  /** Default: GET. */
  method?: string | undefined;
  /** Hash of the request body, when there is one. */
  bodyHash?: string | undefined;
  /** Names the session or credentials the page is fetched with: the same address may be another page for another user. */
  authContext?: string | undefined;
}

/** `1:GET:https://…`, with ` body:…` and ` auth:…` after it; a canonical http URL never holds a space. */
export function pageKey(page: PageIdentity): string {
  let key = `${PAGE_KEY_VERSION}:${(page.method ?? "GET").toUpperCase()}:${canonicalUrl(page.url)}`;
  if (page.bodyHash !== undefined) key += ` body:${encodeURIComponent(page.bodyHash)}`;
  if (page.authContext !== undefined) key += ` auth:${encodeURIComponent(page.authContext)}`;
  return key;
}

/** The canonical address in a key of a plain page; null for any other key. */
export function keyUrl(key: string): URL | null {
  const start = `${PAGE_KEY_VERSION}:GET:`;
  return key.startsWith(start) && !key.includes(" ") ? URL.parse(key.slice(start.length)) : null;
}

function withoutFragment(href: string): string {
  const at = href.indexOf("#");
  return at < 0 ? href : href.slice(0, at);
}

/** What no address may hold as it is, though browsers send it: its escape is the one right spelling. */
const ILLEGAL = /[[\]|^`{}\\]/;

function oneSpelling(text: string): string {
  if (!ILLEGAL.test(text)) return normaliseEscapes(text);
  return normaliseEscapes(text.replace(ALL_ILLEGAL, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`));
}

const ALL_ILLEGAL = new RegExp(ILLEGAL, "g");
const ESCAPE = /%[0-9a-fA-F]{2}/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const HEX = /[0-9A-Fa-f]/;

/**
 * Decodes escapes of unreserved characters, writes the hex digits of the others in capitals. A stray `%` needs care:
 * decoding the escape in `%%32e` would make `%2e` of it, a different page, so a digit behind one stays escaped.
 */
export function normaliseEscapes(text: string): string {
  if (!text.includes("%")) return text;
  let out = "";
  let last = 0;
  for (const match of text.matchAll(ESCAPE)) {
    out += text.slice(last, match.index);
    last = match.index + 3;
    const char = String.fromCharCode(Number.parseInt(match[0].slice(1), 16));
    out += UNRESERVED.test(char) && !(HEX.test(char) && endsInStrayPercent(out)) ? char : match[0].toUpperCase();
  }
  return out + text.slice(last);
}

function endsInStrayPercent(out: string): boolean {
  // A complete escape has its % three from the end, so one that is nearer has no two digits yet.
  return out.endsWith("%") || (out.at(-2) === "%" && HEX.test(out.at(-1) ?? ""));
}

/** The query with its `?`; nothing when there is no parameter, or only tracking ones. */
function canonicalQuery(query: string): string {
  const parts = query.split("&").filter((part) => part !== "");
  const kept = parts.map(queryPart).filter((part) => !isTrackingParameter(part.name));
  if (kept.length === 0) return "";
  if (kept.some((part, index) => index > 0 && part.order < (kept[index - 1] as QueryPart).order)) {
    // Array.prototype.sort is stable: values of one name keep their order, which servers may give a meaning.
    kept.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0));
  }
  return `?${kept.map((part) => part.text).join("&")}`;
}

interface QueryPart {
  text: string;
  name: string;
  order: string;
}

function queryPart(raw: string): QueryPart {
  const text = oneSpelling(raw);
  const equals = text.indexOf("=");
  const name = equals < 0 ? text : text.slice(0, equals);
  return { text, name, order: orderOf(name) };
}

const PLAIN_NAME = /^[A-Za-z0-9\-._~]*$/;

/**
 * Servers read `a+b` and `a%20b` as one name, so both must sort to the same place, or the order of that name's values
 * would change. The spelling itself is kept in the result.
 */
function orderOf(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return name
    .replaceAll("+", "%20")
    .replace(/%(?![0-9A-F]{2})/g, "%25")
    .replace(/[^A-Za-z0-9\-._~%]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

/** The URL for people and logs: a user name and password in it are not shown. */
export function shownUrl(url: string): string {
  // Most have none: no parsing for those.
  if (!url.includes("@")) return url;
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.username === "" && parsed.password === "")) return url;
  parsed.username = "***";
  parsed.password = "";
  return parsed.href;
}

/** Decodes percent-encoding; a text with a broken escape is returned unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
