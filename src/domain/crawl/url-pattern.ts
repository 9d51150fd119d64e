/**
 * The patterns of `include` and `exclude`: globs, or regular expressions literal slashes.
 *
 * - `https://shop.example/blog/**` is compared with the whole URL, like any glob that begins with `**` or contains `://`.
 * - `/blog/**` is compared with the path, on any site.
 * - A glob without `?` ignores the query of a URL. One with `?` matches the query as well, either as written or in
 *   canonical form: sorted by name and without tracking parameters.
 * - `/\/item\/\d+$/` and `/print/i` are regular expressions, searched in the whole URL with its query.
 * - `path:/^\/blog/` is searched in the path only, without host and query.
 *
 * URLs are compared without fragment, user name and password. Equivalent spellings (`é` and `%C3%A9`, `%7e` and `~`,
 * capitals in the host) are the same to a glob; a regular expression sees the URL as it is sent.
 */
import { RE2JS } from "re2js";
import { type FieldError, messageOf } from "../../base/errors.ts";
import { compileGlob } from "./glob.ts";
import type { Parsed } from "../lane/queue-item.ts";
import { canonicalUrl, normaliseEscapes, withoutRootDot } from "../text/url.ts";

export interface UrlPattern {
  /** As the user wrote it. */
  readonly text: string;
  matches(target: PatternTarget): boolean;
}

/** A URL as patterns see it; computed once for all of them. */
export interface PatternTarget {
  /** For regular expressions. */
  readonly addresses: readonly string[];
  /** For globs. */
  readonly origin: string;
  readonly path: string;
  /** As it is sent, for regular expressions. */
  readonly sentPath: string;
  /** With its `?`; empty without a query. */
  readonly queries: readonly string[];
}

export const PATTERN_LIMITS = { patterns: 200, length: 1000 } as const;

/** `path` is the name of the list in errors: `include[2]`. No list: no patterns. */
export function compilePatterns(value: unknown, path: string): Parsed<readonly UrlPattern[]> {
  if (value === undefined || value === null) return { ok: [] };
  if (!Array.isArray(value)) return { errors: [{ path, message: "expected a list of patterns" }] };
  if (value.length > PATTERN_LIMITS.patterns) {
    return {
      errors: [{ path, message: `has ${value.length} patterns, at most ${PATTERN_LIMITS.patterns} are allowed` }],
    };
  }
  const errors: FieldError[] = [];
  const patterns = value.flatMap((text: unknown, index) => {
    try {
      return compilePattern(text);
    } catch (error) {
      errors.push({ path: `${path}[${index}]`, message: messageOf(error) });
      return [];
    }
  });
  return errors.length > 0 ? { errors } : { ok: patterns };
}

/** Throws an Error that explains the problem and what to write instead. */
export function compilePattern(text: unknown): UrlPattern {
  if (typeof text !== "string") throw new Error("expected a string");
  if (text.trim() === "") throw new Error("must not be empty");
  if (text.length > PATTERN_LIMITS.length) throw new Error(`is longer than ${PATTERN_LIMITS.length} characters`);
  const ofPath = /^path:\/(.+)\/(i?)$/s.exec(text);
  if (ofPath !== null) return compilePathRegex(text, { source: ofPath[1] ?? "", flags: ofPath[2] ?? "" });
  const literal = regexLiteral(text);
  return literal === null ? compileUrlGlob(text) : compileUrlRegex(text, literal);
}

export function patternTarget(url: URL, canonical = canonicalUrl(url)): PatternTarget {
  const origin = `${url.protocol}//${withoutRootDot(url.host)}`;
  const sorted = canonical.includes("?") ? canonical.slice(canonical.indexOf("?")) : "";
  const queries = sorted === url.search ? [sorted] : [url.search, sorted];
  return {
    addresses: queries.map((query) => `${origin}${url.pathname}${query}`),
    origin,
    path: uniform(url.pathname),
    sentPath: url.pathname,
    queries: queries.map((query) => uniform(query)),
  };
}

interface RegexLiteral {
  source: string;
  flags: string;
}

/** Characters that are common in regular expressions and rare in paths. */
const REGEX_CHARACTER = /[\\^$()[\]+|]|\.[*?]/;

/**
 * `/blog/` could be either, and one of the two would surprise its author: it is refused. With a star or braces it is a
 * glob, with characters of regular expressions or the flag `i` a regular expression.
 */
function regexLiteral(text: string): RegexLiteral | null {
  const match = /^\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/([dgimsuvy]{0,3})$/s.exec(text);
  if (match === null) return null;
  const [, source = "", flags = ""] = match;
  if (flags === "i") return { source, flags };
  if (REGEX_CHARACTER.test(source)) {
    if (flags !== "") throw new Error(`has the flags "${flags}" after a regular expression, only i is supported`);
    return { source, flags };
  }
  if (flags !== "" || /[*{]/.test(source)) return null;
  throw new Error(
    `may be a path or a regular expression: write "/${source}/**" for all pages below that path, "/{${source}}/" for that ` +
      `page only, or "/(${source})/" for URLs that contain this`,
  );
}

function compileUrlRegex(text: string, literal: RegexLiteral): UrlPattern {
  const compiled = compileRegex(literal);
  return { text, matches: ({ addresses }) => addresses.some((address) => compiled.matcher(address).find()) };
}

function compilePathRegex(text: string, literal: RegexLiteral): UrlPattern {
  const compiled = compileRegex(literal);
  return { text, matches: ({ sentPath }) => compiled.matcher(sentPath).find() };
}

function compileRegex({ source, flags }: RegexLiteral): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), flags === "i" ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    const reason = messageOf(error).replace(/^error parsing regexp: /, "");
    const hint = /\(\?<?[=!]|\\[1-9]/.test(source) ? " (lookaround and back-references are not supported)" : "";
    throw new Error(`is not a supported regular expression: ${reason}${hint}`, { cause: error });
  }
}

function compileUrlGlob(text: string): UrlPattern {
  if (text.includes("#")) throw new Error("has a fragment (#…), which is not part of a page's URL: remove it");
  const whole = matchesWholeUrl(text);
  const glob = compileGlob(uniform(whole ? withPlainHost(text) : text, true));
  const withoutQuery = ({ origin, path }: PatternTarget) => (whole ? `${origin}${path}` : path);
  if (!text.includes("?")) return { text, matches: (target) => glob.matches(withoutQuery(target)) };
  return {
    text,
    matches: (target) => target.queries.some((query) => glob.matches(`${withoutQuery(target)}${query}`)),
  };
}

/** Whether a glob matches the whole URL or the path; throws for one that could never match. */
function matchesWholeUrl(text: string): boolean {
  const query = text.indexOf("?");
  const scheme = text.indexOf("://");
  if (scheme >= 0 && (query < 0 || scheme < query)) return true;
  if (text.startsWith("//"))
    throw new Error(`begins with //: write "https:${text.slice(0, 80)}", or "*:…" for any scheme`);
  if (text.startsWith("/")) return false;
  if (text.startsWith("**")) return true;
  if (text.startsWith("{")) {
    const ways = firstAlternatives(text);
    if (ways.every((way) => way.startsWith("/"))) return false;
    if (ways.every((way) => way.startsWith("**"))) return true;
  }
  throw new Error(
    `matches no URL: it must begin with /, ** or https://, as in "/**${text.startsWith("?") ? "" : "/"}${text.slice(0, 80)}"`,
  );
}

function firstAlternatives(text: string): string[] {
  const ways = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "{" && (depth += 1) === 1) continue;
    if (char === "}" && (depth -= 1) === 0) break;
    if (char === "," && depth === 1) ways.push("");
    else ways[ways.length - 1] += char;
  }
  return ways;
}

/** Normalises scheme and host as URL parsers do: lower case, punycode, no default port, and at least the path `/`. */
function withPlainHost(text: string): string {
  const from = text.indexOf("://") + 3;
  if (from < 3) return text;
  const end = /[/?]/.exec(text.slice(from));
  const to = end === null ? text.length : from + end.index;
  const [host, rest] = [text.slice(from, to), text.slice(to)];
  const scheme = text.slice(0, from).toLowerCase();
  if (/[*{},]/.test(host)) {
    if (/[^\u0021-\u007e]/.test(host))
      throw new Error("has a host with * or { } and non-ASCII letters: write it in punycode");
    return scheme + host.toLowerCase() + rest;
  }
  const plain = URL.parse(`${scheme === "http://" ? "http" : "https"}://${host}/`);
  if (plain === null || plain.host === "") throw new Error(`has no valid host: "${host}"`);
  if (plain.username !== "" || plain.password !== "") throw new Error("contains a user name: remove it");
  return `${scheme}${plain.host}${rest.startsWith("/") ? rest : `/${rest}`}`;
}

/** One spelling for everything that URLs may or may not escape, so that a glob matches both. IPv6 hosts keep brackets. */
function uniform(text: string, keepBraces = false): string {
  const escaped = normaliseEscapes(
    text.replace(/[^\u0021-\u007e]+|["'<>\\^`|{}]/gu, (some) => {
      if (keepBraces && (some === "{" || some === "}")) return some;
      return Array.from(Buffer.from(some), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
    }),
  );
  return escaped.replaceAll("%5B", "[").replaceAll("%5D", "]");
}
