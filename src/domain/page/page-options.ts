/** Document formats of a page and browser options; names as in the API. */

/** `screenshot_full` is the whole page, `screenshot` what a window shows of it. */
export const DOCUMENT_FORMATS = [
  "markdown",
  "html",
  "raw_html",
  "links",
  "images",
  "screenshot",
  "screenshot_full",
] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

export interface DocumentRequest {
  formats: DocumentFormat[];
  /** Of `html` and `markdown`: without navigation, advertisements and the like. */
  only_main_content: boolean;
  /** CSS selectors: nothing but what they match, … */
  include_tags: string[];
  /** … and nothing that these match. */
  exclude_tags: string[];
}

export const ACTION_TYPES = [
  "wait",
  "click",
  "write",
  "press",
  "scroll",
  "scroll_to_end",
  "screenshot",
  "scrape",
] as const;

/** A list may be endless: default limits of steps and seconds. */
export const SCROLL_TO_END = { steps: 100, seconds: 60 } as const;

export type BrowserAction =
  | { type: "wait"; milliseconds: number }
  | { type: "wait"; selector: string }
  | { type: "click"; selector: string; all?: boolean }
  /** A secret text is stored sealed, and never shown again. */
  | { type: "write"; text: string; secret?: boolean }
  | { type: "press"; key: string }
  | { type: "scroll"; direction: "up" | "down"; amount?: number; selector?: string }
  | { type: "scroll_to_end"; max_steps?: number; max_seconds?: number; selector?: string }
  | { type: "screenshot"; full_page?: boolean }
  | { type: "scrape" };

/** The optional ones are absent in recipes stored by earlier versions. */
export interface BrowserOptions {
  wait_for: string | null;
  block_resources: boolean;
  /** After loading, before the actions. */
  wait_ms?: number | null;
  /** Emulate a phone. */
  mobile?: boolean;
  actions?: BrowserAction[];
}

/** With defaults, for display. */
export function wholeBrowserOptions(options: BrowserOptions): Required<BrowserOptions> {
  return { wait_ms: null, mobile: false, actions: [], ...options };
}

/** The part of a recipe that this is about. */
interface PageRequest {
  document?: DocumentRequest | null;
  browser?: BrowserOptions | null;
}

const NOTHING_MORE: DocumentRequest = { formats: [], only_main_content: true, include_tags: [], exclude_tags: [] };

/** The requested document; actions with output imply one. Null: none. */
export function documentOf({ document = null, browser = null }: PageRequest): DocumentRequest | null {
  if (document !== null) return document;
  const brings = browser?.actions?.some(({ type }) => type === "screenshot" || type === "scrape") ?? false;
  return brings ? NOTHING_MORE : null;
}

/** The requested screenshot. */
export function pictureOf(document: DocumentRequest | null): "window" | "page" | null {
  if (document === null) return null;
  if (document.formats.includes("screenshot_full")) return "page";
  return document.formats.includes("screenshot") ? "window" : null;
}

/** Why the request needs a browser; null: it does not. */
export function browserNeeds({ document = null, browser = null }: PageRequest): string | null {
  if (pictureOf(document) !== null) return "a screenshot needs a browser";
  if (browser === null) return null;
  if ((browser.actions?.length ?? 0) > 0) return "actions need a browser";
  if (browser.mobile === true) return "mobile needs a browser";
  return (browser.wait_ms ?? 0) > 0 ? "wait_ms needs a browser" : null;
}
