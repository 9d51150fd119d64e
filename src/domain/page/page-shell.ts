/**
 * Recognises a page that is empty until scripts have run: a browser would see more. Server-rendered pages of the same
 * frameworks and genuinely short pages are not shells.
 */
import { type PageOutline, outlineOf } from "./page-outline.ts";

export interface PageShell {
  /** `empty_root`, `noscript_asks`, `scripts_only`, `empty_place` or `script_writes`. */
  rule: string;
  /** One sentence for people. */
  message: string;
  /** Characters that a reader would see without scripts. */
  textLength: number;
  /** Characters of the page's own scripts, without those it loads. */
  scriptBytes: number;
}

export interface FetchedPage {
  html: string;
  contentType: string | null;
  status: number;
}

/** A logo, a menu's few words and a copyright line may stand around an empty root. */
const AROUND_ROOT = 300;
/** A root may say that it is loading. */
const INSIDE_ROOT = 60;
const BESIDE_NOSCRIPT = 200;
const MUCH_SCRIPT = 20_000;
const LITTLE_TEXT = 80;
/** A heading, a menu's few words. */
const MOST_TEXT_AROUND = 150;
/** Analytics scripts are shorter, and write no content. */
const MUCH_DATA = 1_000;

/** Scripts for analytics, consent or advertisements: the page would look the same without them. */
const BYSTANDERS = [
  "googletagmanager.com",
  "google-analytics.com",
  "googlesyndication.com",
  "gtag/js",
  "gtm.js",
  "analytics",
  "matomo",
  "piwik",
  "plausible",
  "hotjar",
  "clarity.ms",
  "segment.com",
  "facebook.net",
  "cookiebot",
  "onetrust",
  "cookielaw.org",
  "usercentrics",
  "consent",
  "/cdn-cgi/",
  "newrelic",
  "nr-data",
  "sentry",
  "datadoghq",
  "statcounter",
  "beacon",
  "umami",
  "polyfill",
] as const;

const LOADING =
  /^(?:(?:the )?(?:page|app|application|site|content)?\s*(?:is )?(?:loading|starting|please wait|one moment|just a moment|wird geladen|laden|lädt|bitte warten|chargement|cargando|caricamento|carregando|загрузка|加载中|読み込み中|로딩 ?중?)[\s\S]{0,40})?$/;

/** The shell that this page is; null: it can be read as it is. */
export function shellOf(page: FetchedPage, outline = outlineOf(page.html)): PageShell | null {
  if (page.status < 200 || page.status >= 300 || !isHtml(page)) return null;
  // A <meta> redirect has no content either, but a browser would find no more here.
  if (outline.long || outline.refresh !== null) return null;
  const found =
    emptyRoot(outline) ??
    noscriptAsks(outline) ??
    scriptsOnly(outline) ??
    emptyContainer(outline) ??
    scriptWrites(outline);
  if (found === null) return null;
  return { ...found, textLength: outline.textLength, scriptBytes: outline.scriptBytes };
}

type Found = Pick<PageShell, "rule" | "message"> | null;

function emptyRoot(page: PageOutline): Found {
  if (page.textLength > AROUND_ROOT || page.links > 12 || page.fields > 0 || !hasProgram(page)) return null;
  const roots = page.mounts;
  const empty = roots.every((root) => root.textLength <= INSIDE_ROOT && root.links === 0 && root.media <= 1);
  const [root] = roots;
  if (root === undefined || !empty) return null;
  return { rule: "empty_root", message: `the page is empty until scripts fill ${root.name}` };
}

function noscriptAsks(page: PageOutline): Found {
  if (!/java\s?script/i.test(page.noscript)) return null;
  if (page.textLength > BESIDE_NOSCRIPT || page.links > 5 || page.fields > 0 || page.media > 2) return null;
  if (!hasProgram(page)) return null;
  return { rule: "noscript_asks", message: "the page requires JavaScript and shows almost nothing without it" };
}

function scriptsOnly(page: PageOutline): Found {
  if (page.media > 0 || page.fields > 0 || page.links > 2) return null;
  const program = programs(page).length > 0 || page.scriptBytes > 2_000 || WRITES.test(page.inlineScript);
  const waits = LOADING.test(page.text.trim().toLowerCase()) && program;
  const swamped = page.textLength <= LITTLE_TEXT && page.scriptBytes >= MUCH_SCRIPT;
  if (!waits && !swamped) return null;
  return { rule: "scripts_only", message: "the page consists of scripts and has almost no text" };
}

/** A heading above an empty list: what the page is about comes later. */
function emptyContainer(page: PageOutline): Found {
  const [container] = page.emptyContainers;
  if (container === undefined || page.textLength > MOST_TEXT_AROUND || !isSparse(page) || !hasProgram(page))
    return null;
  return {
    rule: "empty_place",
    message: `the page has almost no text, and ${container} is empty until scripts fill it`,
  };
}

/** Data and a few lines that write it into the page. */
function scriptWrites(page: PageOutline): Found {
  if (page.textLength > AROUND_ROOT || !isSparse(page) || !WRITES_CONTENT.test(page.inlineScript)) return null;
  if (page.scriptBytes < Math.max(MUCH_DATA, 5 * page.textLength)) return null;
  return {
    rule: "script_writes",
    message: "the page has little text, and one of its scripts adds more",
  };
}

function isSparse({ links, fields, media }: PageOutline): boolean {
  return links <= 5 && fields === 0 && media <= 2;
}

function programs(page: PageOutline): string[] {
  return page.scriptSources.filter((source) => {
    const address = source.toLowerCase();
    return !BYSTANDERS.some((name) => address.includes(name));
  });
}

/** Scripts that build a page. */
const WRITES =
  /\bimport\b\s*[\w{*("']|\.(?:innerHTML|textContent|innerText)\b|\b(?:createElement|appendChild|insertAdjacentHTML|replaceChildren|createRoot|createApp)\b|document\.write\b|\.(?:render|mount|append)\s*\(/;

/** As above, without what scripts use to load other scripts. */
const WRITES_CONTENT =
  /\.innerHTML\s*\+?=|\b(?:insertAdjacentHTML|replaceChildren)\b|document\.write\b|\.(?:append|prepend|html)\s*\(/;

/** There is a script that could fill the page: one that is loaded, one that is long, or one that writes into the page. */
function hasProgram(page: PageOutline): boolean {
  return programs(page).length > 0 || page.scriptBytes > 1_000 || WRITES.test(page.inlineScript);
}

function isHtml({ contentType, html }: FetchedPage): boolean {
  if (contentType === null || contentType.trim() === "") return /^\s*<(?:!doctype html|html|head|body)\b/i.test(html);
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  return type === "text/html" || type === "application/xhtml+xml";
}
