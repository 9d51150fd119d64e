import type { CDPSession, Page, Request } from "playwright-core";
import { type Clock, sleep } from "../../base/clock.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { isGone } from "./instance.ts";

/** The content of a settled page. */
export interface PageView {
  /** Null: longer than the limit. */
  html: string | null;
  /** The page has scripts, and they have rendered nothing so far. */
  empty: boolean;
}

/** Requests that bring content. Images, media, streams and sockets do not delay a page. */
const COUNTED = new Set(["document", "script", "xhr", "fetch"]);
/** A request that takes longer is a long poll, or not worth waiting for. */
const MAX_REQUEST_MS = 2_500;
/** After a response to a script, a timer often starts the next request; pages without such requests do not wait. */
const QUIET_MS = 120;
const SOFT_CAP_MS = 6_000;
/** How long the DOM may keep changing. */
const MUTATION_MS = 1_500;
/** How long scripts may leave a page without requests empty. */
const EMPTY_MS = 1_000;
/** How late a due refresh may navigate on a busy machine. */
const LEAVE_MS = 2_000;

/** Tracks the pending requests of a page. */
export class PageTraffic {
  readonly #clock: Clock;
  readonly #pending = new Map<Request, number>();
  /** The sequence number of each pending request. */
  readonly #numbers = new Map<Request, number>();
  /** Counted requests so far. */
  started = 0;
  #lastData = 0;
  #change: (() => void) | null = null;

  /** Stops counting. */
  readonly stop: () => void;

  constructor(page: Page, clock: Clock) {
    this.#clock = clock;
    const begun = (request: Request) => {
      if (!COUNTED.has(request.resourceType())) return;
      this.started += 1;
      this.#pending.set(request, clock.monotonic());
      this.#numbers.set(request, this.started);
    };
    const ended = (request: Request) => {
      this.#numbers.delete(request);
      if (!this.#pending.delete(request)) return;
      const type = request.resourceType();
      if (type === "xhr" || type === "fetch") this.#lastData = clock.monotonic();
      this.#change?.();
    };
    page.on("request", begun);
    page.on("requestfinished", ended);
    page.on("requestfailed", ended);
    this.stop = () => {
      page.off("request", begun);
      page.off("requestfinished", ended);
      page.off("requestfailed", ended);
    };
  }

  /** How long to wait before reading the page: 0 when nothing is pending. */
  waitMs(): number {
    const now = this.#clock.monotonic();
    const quietIn = this.#lastData === 0 ? 0 : this.#lastData + QUIET_MS - now;
    const oldest = [...this.#pending.values()].filter((since) => now - since < MAX_REQUEST_MS);
    const pendingIn = oldest.length === 0 ? 0 : Math.max(...oldest) + MAX_REQUEST_MS - now;
    return Math.max(0, quietIn, pendingIn);
  }

  /** Resolves when all requests after the first `before` have ended, or at `until`. */
  async endedSince(before: number, until: number, signal: AbortSignal): Promise<void> {
    const isPending = () => [...this.#numbers.values()].some((number) => number > before);
    while (isPending() && !signal.aborted) {
      const left = until - this.#clock.monotonic();
      if (left <= 0) return;
      await this.#changed(left, signal);
    }
  }

  /** Waits until a request ends, at most `ms`. */
  async #changed(ms: number, signal: AbortSignal): Promise<void> {
    const change = new AbortController();
    this.#change = () => change.abort();
    await sleep(this.#clock, ms, AbortSignal.any([change.signal, signal]));
    this.#change = null;
  }

  /** Resolves when no counted request is pending, or at `until`. */
  async quiet(until: number, signal: AbortSignal): Promise<void> {
    for (let wait = this.waitMs(); wait > 0 && !signal.aborted; wait = this.waitMs()) {
      const left = until - this.#clock.monotonic();
      if (left <= 0) return;
      await this.#changed(Math.min(wait, left), signal);
    }
  }
}

/**
 * Waits inside the page until its scripts are idle and its DOM is stable, then returns the HTML: one round trip. A page
 * without scripts is returned at once, unless a refresh leads elsewhere within a second: that is a redirect, which
 * starts when the page is complete, and destroys this context. Source text: runs in the page.
 */
const READ_VIEW = `(async (maxLength, capMs, emptyMs, leaveMs, refreshHeader) => {
  const scripted = Array.from(document.scripts).some((s) => !s.type || /javascript|module/i.test(s.type));
  const begun = performance.now();
  const idle = () => new Promise((resolve) => {
    setTimeout(resolve, 40);
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => setTimeout(resolve, 0), { timeout: 25 });
  });
  const isEmpty = () => {
    const body = document.body;
    if (!body || body.tagName !== "BODY") return false;
    const walker = document.createTreeWalker(body, 5, (node) =>
      node.nodeType === 1 && /^(script|style|noscript|template)$/i.test(node.tagName) ? 2 : 1);
    let length = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === 3) length += node.data.trim().length;
      else if (/^(img|video|canvas|iframe|object|embed)$/i.test(node.tagName)) return false;
      if (length >= 40) return false;
    }
    return true;
  };
  let empty = false;
  if (scripted) {
    let changes = 0;
    const observer = new MutationObserver(() => { changes += 1; });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
    let seen = -1;
    while (changes !== seen && performance.now() - begun < capMs) {
      seen = changes;
      await idle();
    }
    empty = isEmpty();
    while (empty && performance.now() - begun < emptyMs) {
      seen = changes;
      await idle();
      if (changes !== seen) empty = isEmpty();
    }
    observer.disconnect();
  }
  const leavesIn = (refresh) => {
    const told = /^\\s*(\\d+\\.?\\d*|\\.\\d+)[\\d.]*(?:\\s*[;,]|\\s)\\s*(?:url\\s*=\\s*)?["']?([^"']+)/i.exec(refresh);
    if (!told || told[1] > 1) return null;
    try {
      const to = new URL(told[2].trim(), document.baseURI);
      const stays = !/^https?:$/.test(to.protocol) || to.href.split("#")[0] === location.href.split("#")[0];
      return stays ? null : told[1] * 1000;
    } catch {
      return null;
    }
  };
  const refreshTag = document.querySelector('meta[http-equiv="refresh" i]')?.content;
  const leaves = leaveMs > 0 ? (leavesIn(refreshHeader) ?? leavesIn(refreshTag ?? "")) : null;
  for (let loaded = null; leaves !== null && performance.now() - begun < capMs + leaveMs; ) {
    loaded ??= document.readyState === "complete" ? performance.now() : null;
    if (loaded !== null && performance.now() - loaded > leaves + leaveMs) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  let html = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  if (document.documentElement) html += document.documentElement.outerHTML;
  return { html: html.length > maxLength ? null : html, empty };
})`;

interface SettleOptions {
  clock: Clock;
  maxBodyBytes: number;
  waitFor?: string | undefined;
  signal: AbortSignal;
  /** Monotonic time at which all waits end. */
  deadline: number;
  /** Waits until the current document is complete, after a navigation. */
  complete: () => Promise<void>;
  /** The Refresh header of the document. */
  refresh: () => string;
  /** Resolves when a navigation away was blocked. */
  kept: Promise<void>;
}

/** Waits until the page has its content, bounded by SOFT_CAP_MS and the caller's deadline. */
export async function settle(
  page: Page,
  session: CDPSession,
  traffic: PageTraffic,
  options: SettleOptions,
): Promise<PageView> {
  const { clock, signal } = options;
  if (options.waitFor !== undefined) await waitForSelector(page, options.waitFor);
  const until = Math.min(clock.monotonic() + SOFT_CAP_MS, options.deadline);
  let mayLeave = true;
  const kept = options.kept.then(() => {
    mayLeave = false;
    return "kept" as const;
  });
  for (;;) {
    await traffic.quiet(until, signal);
    const before = traffic.started;
    const left = Math.max(0, until - clock.monotonic());
    const reading = readView(session, options, left, mayLeave);
    const view = mayLeave ? await Promise.race([reading, kept]) : await reading;
    if (view === "kept") continue;
    const over = signal.aborted || clock.monotonic() >= until;
    if (view !== null && (over || (traffic.started === before && traffic.waitMs() === 0))) return view;
    if (view === null) {
      // The page navigated: wait for the new document.
      if (signal.aborted) return { html: "", empty: true };
      await options.complete();
    }
  }
}

async function waitForSelector(page: Page, selector: string): Promise<void> {
  try {
    // Playwright chains selectors with ">>", and guesses the language without the prefix.
    if (selector.replace(/"[^"]*"|'[^']*'/g, "").includes(">>")) throw new Error(">> is not CSS");
    await page.waitForSelector(`css=${selector}`, { state: "attached", timeout: 0 });
  } catch (error) {
    if (isGone(error)) throw error;
    throw new FetchFailure("request_invalid", `waitFor: "${selector}" is not a valid CSS selector`, {
      cause: error,
    });
  }
}

/** Null: the page navigated meanwhile. */
async function readView(
  session: CDPSession,
  { maxBodyBytes: maxLength, refresh }: SettleOptions,
  left: number,
  mayLeave: boolean,
): Promise<PageView | null> {
  const limits = [MUTATION_MS, EMPTY_MS, mayLeave ? LEAVE_MS : 0].map((ms) => Math.min(ms, left));
  const expression = `${READ_VIEW}(${[maxLength, ...limits].join()}, ${JSON.stringify(refresh())})`;
  try {
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    // The page overrides built-ins that the script uses: read it over CDP.
    if (exceptionDetails !== undefined) return readOuterHtml(session, maxLength);
    const view = result.value as PageView | undefined;
    return view !== undefined && (view.html === null || typeof view.html === "string") ? view : null;
  } catch (error) {
    if (hasNavigated(error)) return null;
    throw error;
  }
}

async function readOuterHtml(session: CDPSession, maxLength: number): Promise<PageView> {
  const { root } = await session.send("DOM.getDocument", { depth: 0 });
  const { outerHTML } = await session.send("DOM.getOuterHTML", { nodeId: root.nodeId });
  return { html: outerHTML.length > maxLength ? null : outerHTML, empty: false };
}

function hasNavigated(error: unknown): boolean {
  return (
    error instanceof Error &&
    /context was destroyed|navigated or closed|Cannot find (default )?context/i.test(error.message)
  );
}
