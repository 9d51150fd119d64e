import type { Credentials } from "../domain/text/credentials.ts";
import type { Exchange } from "../domain/page/exchange.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import type { BrowserAction } from "../domain/page/page-options.ts";
import type { Validators } from "../domain/page/page-copy.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { Redirect } from "../net/http.ts";

/** In escalation order: a run never goes back. */
const PAGE_STRATEGIES = ["http", "api_replay", "browser"] as const;
type PageStrategyName = (typeof PAGE_STRATEGIES)[number];

/** The request to any page strategy. */
export interface PageRequest {
  url: string;
  /** Bound to their origin; null: none. */
  credentials: Credentials | null;
  /** The whole page, from the first byte to the settled content. */
  timeoutMs: number;
  /** After decompression. */
  maxBodyBytes: number;
  signal?: AbortSignal;
  /** The proxy for all requests of the page. Default: none. */
  via?: Upstream;
  /** Called for each redirect of the main document that the guard allows; false ends the fetch with `notFollowed`. */
  followRedirects?: (from: URL, to: URL) => boolean;
  /** Awaited before a redirect or a scripted navigation is followed; an error ends the fetch. */
  beforeRedirect?: (to: URL) => Promise<void>;
  /** Lower limit than the default; only for plain requests. */
  maxRedirects?: number;
  /** Makes the request conditional; only for plain requests. */
  conditions?: Validators;
  /** The recipe of `api_replay`; other strategies ignore it. */
  replay?: unknown;
  /** The answer then includes the raw exchange, as far as the strategy can record it. */
  keepExchanges?: boolean;
  /** Called with the head of the page's response before its body is read; only by plain requests. */
  onHead?: (status: number, headers: Readonly<Record<string, string>>) => void;
  /** Called while the page is still open: true adds a screenshot and the HTML as evidence. */
  wantsEvidence?: (answer: PageAnswer) => Promise<boolean>;
  browser?: BrowserFetchOptions;
  /** Pages with the same key (those of one run) may share cookies and reuse one browser page. */
  shareKey?: string;
  /** Called before a request after a wait; throws when the site must not be requested any more. */
  mayAsk?: () => void;
  /** The site's share of the browser's memory. */
  memory?: MemoryShare;
}

export interface MemoryShare {
  site: string;
  /** All pages of the site together; null: unlimited. */
  maxBytes: number | null;
  /** Called when the page starts and stops waiting for other pages of its site. */
  onWait?: (waits: boolean) => void;
}

export interface BrowserFetchOptions {
  /** Block images, fonts and media. */
  blockResources?: boolean;
  /** Wait until this CSS selector matches, within the page's timeout. */
  waitFor?: string;
  /** Then wait this long. */
  waitMs?: number;
  /** Emulate a phone. */
  mobile?: boolean;
  /** Then run these. */
  actions?: readonly BrowserAction[];
  /** Then take a screenshot, of the viewport or of the full page. */
  picture?: "window" | "page";
}

/** Any status is an answer; the caller judges it. */
export interface PageAnswer {
  status: number;
  finalUrl: string;
  redirects: Redirect[];
  /** Lower-case names. */
  headers: Record<string, string>;
  contentType: string | null;
  /** Decompressed bytes, or the HTML that a browser rendered. */
  body: Uint8Array | string;
  durationMs: number;
  /** From the last request until its response head, where that is one request. */
  headMs?: number;
  /** Requests to the site, without sub-resources. */
  requests: number;
  /** The target of a redirect that `followRedirects` declined. */
  notFollowed?: string;
  /** The browser that rendered the page: `playwright-chromium`. */
  browser?: string;
  /** The body is the list of all items of a replayed call. */
  replayed?: boolean;
  evidence?: PageEvidence;
  /** Screenshots and scrapes that were requested. */
  taken?: TakenFromPage;
  /** Redirects first; the body belongs to the last one. */
  exchanges?: readonly Exchange[];
  /** The page was a document, such as a PDF: `body` and `contentType` are those of the HTML that it became. */
  document?: SourceDocument;
}

/** A document as it was received. */
interface SourceDocument {
  type: string;
  body: Uint8Array;
  contentType: string | null;
  /** Why a part of it is missing; null: all of it was read. */
  truncated: string | null;
}

/** The response as it was received. */
export function receivedOf({ body, contentType, document }: PageAnswer): Pick<PageAnswer, "body" | "contentType"> {
  return document ?? { body, contentType };
}

/** Images are PNG. */
export interface TakenFromPage {
  screenshot: Uint8Array | null;
  /** In the order of their actions; null: there were no actions. */
  actions: { screenshots: Uint8Array[]; scrapes: { url: string; html: string }[] } | null;
}

export interface PageEvidence {
  /** PNG. */
  screenshot: Uint8Array | null;
  /** The HTML at the time of the failure. */
  html: string | null;
}

/** Throws a FetchFailure when there was no usable answer. */
export interface PageStrategy {
  readonly name: PageStrategyName;
  fetch(request: PageRequest): Promise<PageAnswer>;
}

/** A failure with the evidence of the page. */
export class PageFailure extends FetchFailure {
  readonly evidence: PageEvidence | null;

  constructor(evidence: PageEvidence | null, ...rest: ConstructorParameters<typeof FetchFailure>) {
    super(...rest);
    this.evidence = evidence;
  }
}
