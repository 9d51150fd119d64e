/**
 * The Robots Exclusion Protocol, RFC 9309: what a site's robots.txt allows a crawler to fetch. The parser never throws:
 * invalid lines are skipped.
 */
import { meantUrl } from "../text/meant-url.ts";
import { robotsLines } from "./robots-lines.ts";

export { ROBOTS_BYTES } from "./robots-lines.ts";

/** The rules of a robots.txt for one crawler. */
export interface Robots {
  /** Longest first; of equal length, `allow` first. */
  readonly rules: readonly RobotsRule[];
  readonly crawlDelaySeconds: number | null;
  /** Absolute addresses; they are for every crawler. */
  readonly sitemaps: readonly string[];
}

interface RobotsRule {
  readonly allow: boolean;
  readonly pattern: Pattern;
  /** The same with the reserved characters of its query encoded; null: there is no query to encode. */
  readonly encoded: Pattern | null;
  /** In octets; the longest that matches wins. */
  readonly length: number;
}

/** A pattern cut at its `*`: the first piece stands at the beginning of the path, the others follow somewhere. */
interface Pattern {
  readonly pieces: readonly Piece[];
  /** Ended in `$`: nothing follows. */
  readonly toTheEnd: boolean;
}

interface Piece {
  readonly text: string;
  /** For each length that was matched, how much of it still is when the next character differs; null: a short piece. */
  readonly fallback: Int32Array | null;
}

/** The built-in search may compare each place with so many characters; for longer pieces that would add up. */
const SHORT_PIECE = 16;

/** A longer delay would look like standing still; other limits of the site hold besides. */
const LONGEST_DELAY_SECONDS = 30;
const MOST_SITEMAPS = 1_000;

/** The name of a crawler, which its user agent begins with. */
export function productTokenOf(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? "Orbweaver";
}

/** A rule as it is written, in the form in which it is compared. */
export function ruleText({ allow, pattern: { pieces, toTheEnd } }: Robots["rules"][number]): string {
  return `${allow ? "Allow" : "Disallow"}: ${pieces.map(({ text }) => text).join("*")}${toTheEnd ? "$" : ""}`;
}

/** No rules: everything is allowed. What a missing robots.txt (4xx) means. */
export const ALLOW_ALL: Robots = { rules: [], crawlDelaySeconds: null, sitemaps: [] };

interface Group {
  agents: Set<string>;
  rules: RobotsRule[];
}

/**
 * `productToken` is the crawler's name; a version behind it, as in a user agent, is left out. `url` is where the file is
 * from: sitemaps may be relative to it.
 */
export function parseRobots(source: string | Uint8Array, productToken: string, url?: string): Robots {
  const groups: Group[] = [];
  const sitemaps = new Set<string>();
  /** A delay is only for the names right before it: it is no rule that names share by the RFC. */
  const named: { agents: Set<string>; delay: number | null }[] = [{ agents: new Set(), delay: null }];
  let group: Group | null = null;
  let hasRules = false;
  let hasDelay = false;
  for (const [key, value] of robotsLines(source)) {
    if (key === "user-agent") {
      // Names that follow each other share the rules after them, whatever else stands in between.
      if (group === null || hasRules) groups.push((group = { agents: new Set(), rules: [] }));
      if (hasRules || hasDelay) named.push({ agents: new Set(), delay: null });
      [hasRules, hasDelay] = [false, false];
      for (const part of value.split(",")) {
        const agent = agentOf(part.trim());
        if (agent === null) continue;
        group.agents.add(agent);
        named.at(-1)?.agents.add(agent);
      }
    } else if (key === "allow" || key === "disallow") {
      // A rule before the first user agent applies to none.
      if (group === null) continue;
      hasRules = true;
      const rule = ruleOf(key === "allow", pathOf(value, url));
      if (rule !== null) group.rules.push(rule);
    } else if (key === "crawl-delay") {
      hasDelay = true;
      const last = named.at(-1);
      if (last === undefined || !/^\d{1,9}(?:\.\d{1,9})?$/.test(value)) continue;
      last.delay = Math.min(Math.max(Number(value), last.delay ?? 0), LONGEST_DELAY_SECONDS);
    } else if (key === "sitemap" && sitemaps.size < MOST_SITEMAPS) {
      // Some lines name several.
      for (const part of /^https?:/i.test(value) ? value.split(/,?\s+(?=https?:\/\/)/i) : [value]) {
        const address = meantUrl(part, url);
        if (address?.protocol === "https:" || address?.protocol === "http:") sitemaps.add(address.href);
      }
    }
  }
  const token = agentOf(productToken);
  // All groups of the same name count as one. Those for everybody count only when there is none for this crawler.
  const name = token !== null && groups.some(({ agents }) => agents.has(token)) ? token : "*";
  const delays = named.flatMap(({ agents, delay }) => (agents.has(name) ? (delay ?? []) : []));
  return {
    rules: groups
      .flatMap(({ agents, rules }) => (agents.has(name) ? rules : []))
      .sort((a, b) => b.length - a.length || Number(b.allow) - Number(a.allow)),
    crawlDelaySeconds: delays.reduce<number | null>((most, delay) => Math.max(most ?? 0, delay), null),
    sitemaps: [...sitemaps],
  };
}

/** Whether this address may be fetched; a path alone will do. What is no address at all may not. */
export function isAllowed(robots: Robots, url: string): boolean {
  const address = URL.parse(url, "https://site.invalid/");
  if (address === null) return false;
  if (address.pathname === "/robots.txt") return true;
  const path = canonical(`${address.pathname}${address.search}`).replaceAll("*", "%2A").replaceAll("$", "%24");
  const encoded = withEncodedQuery(path);
  const decisive = robots.rules.find(
    (rule) => matches(rule.pattern, path) || (rule.encoded !== null && matches(rule.encoded, encoded)),
  );
  return decisive?.allow ?? true;
}

/** Seconds between two requests, at most 30; null: not said. */
export function crawlDelaySeconds(robots: Robots): number | null {
  return robots.crawlDelaySeconds;
}

export function sitemaps(robots: Robots): readonly string[] {
  return robots.sitemaps;
}

/** A name is letters, `_` and `-`, so `Orbweaver/0.1` is `orbweaver`; null: there is none. */
export function agentOf(value: string): string | null {
  if (/^\*(?:\s|$)/.test(value)) return "*";
  return /^[a-z_-]+/.exec(value.toLowerCase())?.[0] ?? null;
}

/** A whole address of the site instead of its path; it may leave out the scheme. */
function pathOf(value: string, url: string | undefined): string {
  const home = url === undefined ? null : URL.parse(url);
  if (home === null || value.startsWith("/") || value.startsWith("*")) return value;
  const [, host, path] = /^(?:https?:\/\/)?([^/?#\s]+)(\/\S*)$/i.exec(value) ?? [];
  return host?.toLowerCase() === home.host && path !== undefined ? path : value;
}

function ruleOf(allow: boolean, value: string): RobotsRule | null {
  // An empty rule says nothing, and paths begin with a slash.
  if (!value.startsWith("/") && !value.startsWith("*")) return null;
  const written = canonical(value);
  const toTheEnd = written.endsWith("$");
  const path = (toTheEnd ? written.slice(0, -1) : written).replaceAll("$", "%24");
  const piecesOf = (text: string): Pattern => ({ pieces: text.split(/\*+/).map(pieceOf), toTheEnd });
  return {
    allow,
    pattern: piecesOf(path),
    encoded: path.includes("?") ? piecesOf(withEncodedQuery(path)) : null,
    length: written.length,
  };
}

/**
 * Each piece is taken at the first place it fits, which leaves the most room for those that follow; so no place is ever
 * tried twice, however many `*` there are.
 */
function matches({ pieces, toTheEnd }: Pattern, path: string): boolean {
  const last = pieces.length - 1;
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const { text } = piece;
    if (index === last && toTheEnd) {
      if (index === 0) return path === text;
      return path.length - text.length >= at && path.endsWith(text);
    }
    const found = index === 0 ? (path.startsWith(text) ? 0 : -1) : find(piece, path, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return true;
}

function pieceOf(text: string): Piece {
  if (text.length <= SHORT_PIECE) return { text, fallback: null };
  const fallback = new Int32Array(text.length);
  for (let at = 1, matched = 0; at < text.length; at += 1) {
    while (matched > 0 && text[at] !== text[matched]) matched = fallback[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched += 1;
    fallback[at] = matched;
  }
  return { text, fallback };
}

/** Knuth–Morris–Pratt: linear in the path. */
function find({ text, fallback }: Piece, path: string, from: number): number {
  if (fallback === null) return path.indexOf(text, from);
  for (let at = from, matched = 0; at < path.length; at += 1) {
    while (matched > 0 && path[at] !== text[matched]) matched = fallback[matched - 1] ?? 0;
    if (path[at] === text[matched]) matched += 1;
    if (matched === text.length) return at + 1 - matched;
  }
  return -1;
}

/**
 * One spelling for what is the same: everything but ASCII is percent-encoded, letters, digits and `-._~'` are not, and
 * hexadecimal digits are capitals. What is reserved stays as it was written, so `%2F` and `/` differ.
 */
function canonical(path: string): string {
  return path
    .toWellFormed()
    .replace(/[^\x21-\x7e]+|["<>\\^`{|}]/g, encodeURIComponent)
    .replace(/%([\da-f]{2})/gi, (escape, digits: string) => {
      const character = String.fromCharCode(Number.parseInt(digits, 16));
      return /[\w.~'-]/.test(character) ? character : escape.toUpperCase();
    });
}

/** In a query, `https://` and `https%3A%2F%2F` mean the same to a rule, as in the examples of the RFC. */
function withEncodedQuery(path: string): string {
  const start = path.indexOf("?");
  if (start < 0) return path;
  return path.slice(0, start + 1) + path.slice(start + 1).replace(/[:/?[\]@!(),;+]/g, encodeReserved);
}

function encodeReserved(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
