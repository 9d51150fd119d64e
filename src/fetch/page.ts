import type { Credentials } from "../domain/text/credentials.ts";
import type { Exchange } from "../domain/page/exchange.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { BrowserAction } from "../domain/page/page-options.ts";
import type { Validators } from "../domain/page/page-copy.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { Redirect } from "../net/http.ts";

/** Ways of getting a page, in the order in which a run may climb: never down again. */
const PAGE_STRATEGIES = ["http", "api_replay", "browser"] as const;
type PageStrategyName = (typeof PAGE_STRATEGIES)[number];

/** What every way of getting a page is asked. */
export interface PageRequest {
  url: string;
  /** Bound to their own origin; null: none. */
  credentials: Credentials | null;
  /** The whole page, from the first byte to the settled content. */
  timeoutMs: number;
  /** After decompression. */
  maxBodyBytes: number;
  signal?: AbortSignal;
  /** The proxy that all of the page goes through. Default: none. */
  via?: Upstream;
  /** Asked at each redirect of the page itself that the guard allows; false ends the fetch with `notFollowed`. */
  followRedirects?: (from: URL, to: URL) => boolean;
  /** Waited for before one is followed, or a script that leads elsewhere; what it throws ends the fetch. */
  beforeRedirect?: (to: URL) => Promise<void>;
  /** How many are followed, when fewer than usual; plain requests keep to it. */
  maxRedirects?: number;
  /** Answered with 304 when the page is as it was then; only plain requests can carry them. */
  conditions?: Validators;
  /** What `api_replay` sends; the other ways ignore it. */
  replay?: unknown;
  /** The answer then includes the raw exchange, as far as the strategy can record it. */
  keepExchanges?: boolean;
  /** Called with the head of the page's response before its body is read; only by plain requests. */
  onHead?: (status: number, headers: Readonly<Record<string, string>>) => void;
  /** Asked while the page is still open: true takes a picture and a copy of the page along, to show what was wrong. */
  wantsEvidence?: (answer: PageAnswer) => Promise<boolean>;
  browser?: BrowserFetchOptions;
  /** Pages with the same key (those of one run) may share cookies and follow each other in one page of a browser. */
  shareKey?: string;
  /** Called before a request that comes after a wait; throws when the site is not to be asked any more. */
  mayAsk?: () => void;
  /** What the page's site may have of the browser's memory. */
  memory?: MemoryShare;
}

export interface MemoryShare {
  site: string;
  /** All pages of the site together; null: as much as they like. */
  maxBytes: number | null;
  /** Called when the page starts and stops waiting for other pages of its site. */
  onWait?: (waits: boolean) => void;
}

export interface BrowserFetchOptions {
  /** Leave out pictures, fonts and media. */
  blockResources?: boolean;
  /** Wait until this CSS selector matches, within the page's time. */
  waitFor?: string;
  /** Then wait so long. */
  waitMs?: number;
  /** As a phone shows it. */
  mobile?: boolean;
  /** Then do this. */
  actions?: readonly BrowserAction[];
  /** Then take a picture, of the window or of the whole page. */
  picture?: "window" | "page";
}

/** Any status is an answer; whether it is a good one is judged by the caller. */
export interface PageAnswer {
  status: number;
  finalUrl: string;
  redirects: Redirect[];
  /** Lower-case names. */
  headers: Record<string, string>;
  contentType: string | null;
  /** Bytes as they came, decompressed; or the text of a page that a browser has put together. */
  body: Uint8Array | string;
  durationMs: number;
  /** From the last request until the head of its answer, where that is one request. */
  headMs?: number;
  /** Requests that this page cost its site, sub-resources left out. */
  requests: number;
  /** Where a redirect pointed that `followRedirects` declined. */
  notFollowed?: string;
  /** Which browser, for a page that one has put together: `playwright-chromium`. */
  browser?: string;
  /** The body is the list of all items of a replayed call. */
  replayed?: boolean;
  evidence?: PageEvidence;
  /** What was asked for beside the page itself. */
  taken?: TakenFromPage;
  /** Redirects first; the body belongs to the last one. */
  exchanges?: readonly Exchange[];
}

/** Pictures are PNG. */
export interface TakenFromPage {
  screenshot: Uint8Array | null;
  /** In the order of the actions that asked for them; null: there were no actions. */
  actions: { screenshots: Uint8Array[]; scrapes: { url: string; html: string }[] } | null;
}

export interface PageEvidence {
  /** PNG. */
  screenshot: Uint8Array | null;
  /** The page as it stood, as HTML. */
  html: string | null;
}

/** One way of getting a page. Throws a FetchFailure when there was no usable answer. */
export interface PageStrategy {
  readonly name: PageStrategyName;
  fetch(request: PageRequest): Promise<PageAnswer>;
}

/** A failure that brings along what could be seen of the page. */
export class PageFailure extends FetchFailure {
  readonly evidence: PageEvidence | null;

  constructor(evidence: PageEvidence | null, ...rest: ConstructorParameters<typeof FetchFailure>) {
    super(...rest);
    this.evidence = evidence;
  }
}
