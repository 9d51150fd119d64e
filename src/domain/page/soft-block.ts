/**
 * Recognises the pages that bot protections serve instead of the page that was asked for: challenges that a browser may
 * pass by itself, and captchas that need a person. They come with any status, 200 included. The table of what is
 * recognised stands in soft-block-rules.ts.
 */
import { type PageOutline, outlineOf } from "./page-outline.ts";
import { type Clue, type ClueSource, type ContentLimit, type Rule, SOFT_BLOCK_RULES } from "./soft-block-rules.ts";

export interface SoftBlock {
  kind: "challenge" | "captcha";
  /** Name of the rule that matched, such as `cloudflare_challenge`. */
  rule: string;
  /** One sentence for people. */
  message: string;
}

interface AnsweredPage {
  status: number;
  headers: Readonly<Record<string, string>>;
  html: string;
  url: string;
}

/** The block that this page is; null: a real page. Check this before `shellOf`. */
export function softBlockOf(page: AnsweredPage, outline = outlineOf(page.html)): SoftBlock | null {
  const textsOf = textsBySource(page, outline);
  const found = SOFT_BLOCK_RULES.find(
    (rule) => isWithinLimit(outline, rule.contentLimit) && rule.clues.every((clue) => holds(textsOf, clue)),
  );
  return found === undefined ? null : { kind: found.kind, rule: found.rule, message: messageOf(found, page.status) };
}

function isWithinLimit(page: PageOutline, contentLimit: ContentLimit): boolean {
  if (contentLimit === "any") return true;
  if (contentLimit === "short") return !page.long && page.mounts.every(isSmall);
  return !page.long && page.textLength <= 700 && page.links <= 6 && page.fields === 0;
}

/** A vendor's marker inside a rendered application is no wall. */
function isSmall(mount: PageOutline["mounts"][number]): boolean {
  return mount.textLength <= 1_000;
}

function textsBySource(
  page: AnsweredPage,
  outline: PageOutline,
): (source: ClueSource) => readonly string[] | ReadonlySet<string> {
  const lower = (text: string) => straight(text.toLowerCase());
  const headers = new Map(Object.entries(page.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const texts: Partial<Record<ClueSource, string[]>> = {
    title: [lower(outline.title)],
    text: [lower(outline.text)],
    noscript: [lower(outline.noscript)],
    script: outline.scriptSources.map(lower),
    // A wall's scripts often name their address in a string and load it themselves.
    inline: [outline.long ? "" : lower(outline.inlineScript)],
    frame: outline.frames.map(lower),
    refresh: [lower(outline.refresh ?? "")],
    address: [lower(page.url)],
  };
  return (source) => {
    if (source === "name") return outline.names;
    if (!source.startsWith("header ")) return texts[source] ?? [];
    const value = headers.get(source.slice("header ".length));
    return value === undefined ? [] : [lower(value)];
  };
}

function holds(textsOf: ReturnType<typeof textsBySource>, [source, ...oneOf]: Clue): boolean {
  const here = textsOf(source);
  if ("has" in here) return oneOf.some((word) => here.has(word));
  const found = (text: string, word: string) => (source === "title" ? text.startsWith(word) : text.includes(word));
  return here.some((text) => oneOf.some((word) => found(text, word)));
}

/** Typographic apostrophes, so that the table needs each sentence once. */
function straight(text: string): string {
  return text.replace(/[\u2018\u2019\u02bc]/g, "'");
}

function messageOf(rule: Rule, status: number): string {
  const what = rule.kind === "captcha" ? "a captcha" : "a bot challenge";
  const who = rule.by === "the site" ? "the site" : `${rule.by}, which protects the site,`;
  return `${who} answered ${status} with ${what} instead of the page`;
}
