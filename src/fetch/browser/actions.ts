/** Runs browser actions on a page before it is read. */
import type { Locator } from "playwright-core";
import type { Clock } from "../../base/clock.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { type BrowserAction, SCROLL_TO_END } from "../../domain/page/page-options.ts";
import type { TakenFromPage } from "../page.ts";
import { tooLarge } from "./document.ts";
import { source } from "./evidence.ts";
import { isGone, type OpenPage } from "./instance.ts";
import { pageTime } from "./page-time.ts";
import { takePicture } from "./picture.ts";
import type { PageTraffic } from "./settle.ts";

interface ActionContext {
  opened: OpenPage;
  traffic: PageTraffic;
  clock: Clock;
  maxBodyBytes: number;
  signal: AbortSignal;
  /** Monotonic time at which all waits end. */
  deadline: number;
  /** Waits until the current document is complete, after a navigation. */
  complete(): Promise<void>;
  /** The refusal of a navigation since the last call; null: none. */
  refusal(): FetchFailure | null;
  /** The page navigated to something that is not HTML. Throws the failure that ended the visit. */
  hasLeft(): boolean;
}

/** Patience for an element to click: the page has settled, so it should exist. Later elements need a wait action. */
const ELEMENT_MS = 5_000;
/** A click returns before its effects start. */
const EFFECT_MS = 60;
const SETTLE_MS = 3_000;
/** Lazy lists debounce before they load the next items. */
const LAZY_LOAD_MS = 1_000;
const MAX_CLICKS = 100;
/** Longer texts are inserted at once, not key by key. */
const MAX_TYPED = 500;
const MAX_SCREENSHOT_BYTES = 64 * 1024 * 1024;

export class PageActions {
  readonly #context: ActionContext;
  readonly taken: NonNullable<TakenFromPage["actions"]> = { screenshots: [], scrapes: [] };
  /** The current action, for the timeout message. */
  doing: string | null = null;
  /** A wait for a selector may use all of the page's time: a timeout then means that nothing matched. */
  #waitsForSelector = false;
  #scraped = 0;

  constructor(context: ActionContext) {
    this.#context = context;
  }

  /** Runs the actions in order. Throws a FetchFailure that names the failed one. */
  async do(actions: readonly BrowserAction[]): Promise<void> {
    const { signal, hasLeft } = this.#context;
    for (const [index, action] of actions.entries()) {
      if (signal.aborted) return;
      this.doing = `browser.actions[${index}] (${shown(action)})`;
      if (hasLeft()) throw failed(this.doing, "an earlier action led to a URL that is not a page");
      try {
        await this.#do(action);
      } catch (error) {
        if (signal.aborted || isGone(error) || isClassified(error)) throw error;
        throw failed(this.doing, messageOf(error), error);
      }
      this.refuse();
    }
  }

  /** The failure that explains a timeout in the current action; null: none. */
  get overdue(): FetchFailure | null {
    return this.#waitsForSelector && this.doing !== null ? failed(this.doing, NOTHING_MATCHES) : null;
  }

  /** Throws when the last action navigated to a forbidden target. */
  refuse(): void {
    const why = this.#context.refusal();
    if (why !== null && this.doing !== null)
      throw new FetchFailure(why.failure.reason, `${this.doing}: ${why.failure.message}`, { cause: why });
  }

  #do(action: BrowserAction): Promise<void> {
    switch (action.type) {
      case "wait":
        return "selector" in action ? this.#waitForSelector(action.selector) : this.#wait(action.milliseconds);
      case "click":
        return this.#click(action.selector, action.all === true);
      case "write":
        return this.#write(action.text);
      case "press":
        return this.#press(action.key);
      case "scroll":
        return this.#scroll(action);
      case "scroll_to_end":
        return this.#scrollToEnd(action);
      case "screenshot":
        return this.#screenshot(action.full_page === true);
      case "scrape":
        return this.#scrape();
    }
  }

  get #leftMs(): number {
    return Math.max(1, this.#context.deadline - this.#context.clock.monotonic());
  }

  /** The prefix keeps Playwright from guessing the selector language. */
  #find(selector: string): Locator {
    return this.#context.opened.page.locator(`css=${selector}`);
  }

  async #waitForSelector(selector: string): Promise<void> {
    this.#waitsForSelector = true;
    await this.#waitFor(selector, this.#leftMs);
    this.#waitsForSelector = false;
  }

  async #waitFor(selector: string, mostMs: number): Promise<void> {
    await this.#find(selector).first().waitFor({ state: "attached", timeout: mostMs });
  }

  #waitSoonFor(selector: string): Promise<void> {
    return this.#retryWithin(
      (mostMs) => this.#waitFor(selector, mostMs),
      async () => (await this.#find(selector).count()) === 0,
    );
  }

  /**
   * Retries until the page itself has run for ELEMENT_MS: on a busy machine a timeout may fire before Playwright has
   * looked at all. `isSure` confirms that the error holds.
   */
  async #retryWithin(
    attempt: (mostMs: number) => Promise<void>,
    isSure: (error: Error) => boolean | Promise<boolean>,
  ): Promise<void> {
    const patience = this.#pageTime(ELEMENT_MS);
    patience.catch(() => {});
    for (;;) {
      try {
        return await attempt(Math.min(ELEMENT_MS, this.#leftMs));
      } catch (error) {
        if (!isTimeout(error) || this.#leftMs <= 1 || this.#context.signal.aborted) throw error;
        await patience;
        if (await isSure(error)) throw error;
      }
    }
  }

  async #click(selector: string, all: boolean): Promise<void> {
    await this.#waitSoonFor(selector);
    const elements = all ? (await this.#find(selector).elementHandles()).slice(0, MAX_CLICKS) : [];
    if (!all) await this.#clickOn(this.#find(selector).first());
    for (const element of elements) {
      // A click may remove the next elements.
      const isThere = await element.isVisible().catch(() => false);
      if (isThere) await this.#clickOn(element);
    }
    await this.#settle();
  }

  /** The element must become clickable soon; the navigation it triggers may take longer. */
  async #clickOn(element: Pick<Locator, "click">): Promise<void> {
    await this.#retryWithin(
      (timeout) => element.click({ trial: true, timeout }),
      ({ message }) => NOT_CLICKABLE.test(message),
    );
    await element.click({ timeout: this.#leftMs });
  }

  async #write(text: string): Promise<void> {
    const { page, session } = this.#context.opened;
    const expression = "![null, document.body, document.documentElement].includes(document.activeElement)";
    const { result } = await session.send("Runtime.evaluate", { expression, returnByValue: true });
    if (result.value !== true) throw new ActionError("no element has the focus: click the input field first");
    if (text.length <= MAX_TYPED) await page.keyboard.type(text);
    else await page.keyboard.insertText(text);
    await this.#settle();
  }

  async #press(key: string): Promise<void> {
    await this.#context.opened.page.keyboard.press(key);
    await this.#settle();
  }

  async #scroll({ direction, amount, selector }: Extract<BrowserAction, { type: "scroll" }>): Promise<void> {
    if (selector !== undefined) await this.#waitSoonFor(selector);
    const what =
      selector === undefined ? "document.scrollingElement" : `document.querySelector(${JSON.stringify(selector)})`;
    const far = amount ?? "(what.clientHeight || innerHeight)";
    const expression = `(() => { const what = ${what}; what?.scrollBy({ top: ${direction === "up" ? "-" : ""}${far}, behavior: "instant" }); })()`;
    await this.#context.opened.session.send("Runtime.evaluate", { expression });
    await this.#settle();
  }

  /** Scrolls until nothing new loads. An endless list ends at the limits, with what has loaded by then. */
  async #scrollToEnd(action: Extract<BrowserAction, { type: "scroll_to_end" }>): Promise<void> {
    const { max_steps: most = SCROLL_TO_END.steps, max_seconds: seconds = SCROLL_TO_END.seconds, selector } = action;
    const { clock, signal, deadline } = this.#context;
    if (selector !== undefined) await this.#waitSoonFor(selector);
    const until = Math.min(clock.monotonic() + seconds * 1000, deadline);
    const hasTime = () => !signal.aborted && clock.monotonic() < until;
    let before = await this.#extent(selector);
    for (let step = 0; step < most && hasTime(); step += 1) {
      let after = await this.#scrollDown(selector, until, "once");
      // Some lists load only on a later scroll, or only when scrolled to the end from further up.
      if (!isMore(before, after) && hasTime()) after = await this.#scrollDown(selector, until, "again");
      if (!isMore(before, after)) return;
      before = after;
    }
  }

  async #scrollDown(selector: string | undefined, until: number, how: "once" | "again"): Promise<Extent> {
    const { traffic, signal } = this.#context;
    const begun = traffic.started;
    const back = how === "again" ? "what.scrollBy({ top: -innerHeight, behavior: 'instant' });" : "";
    await this.#inPage(selector, `${back} what.scrollTo({ top: what.scrollHeight, behavior: "instant" });`);
    await this.#pageTime(how === "again" ? LAZY_LOAD_MS : EFFECT_MS);
    await traffic.endedSince(begun, until, signal);
    await this.#settle();
    return this.#extent(selector);
  }

  async #extent(selector: string | undefined): Promise<Extent> {
    const counted = await this.#inPage(selector, 'return [what.scrollHeight, what.querySelectorAll("*").length];');
    const [height = 0, elements = 0] = Array.isArray(counted) ? (counted as number[]) : [];
    return { height, elements };
  }

  /** Runs `body` with the scrolled element as `what`; null when there is none. */
  async #inPage(selector: string | undefined, body: string): Promise<unknown> {
    const what =
      selector === undefined ? "document.scrollingElement" : `document.querySelector(${JSON.stringify(selector)})`;
    const expression = `(() => { const what = ${what}; if (what === null) return null; ${body} })()`;
    const { result } = await this.#context.opened.session.send("Runtime.evaluate", { expression, returnByValue: true });
    return result.value as unknown;
  }

  async #screenshot(wholePage: boolean): Promise<void> {
    const { page, session } = this.#context.opened;
    const { screenshots } = this.taken;
    screenshots.push(await takePicture(page, session, wholePage ? "page" : "window", this.#leftMs));
    if (screenshots.reduce((sum, { byteLength }) => sum + byteLength, 0) > MAX_SCREENSHOT_BYTES)
      throw new ActionError(`all screenshots of the page together are larger than ${MAX_SCREENSHOT_BYTES} bytes`);
  }

  async #scrape(): Promise<void> {
    const { opened, maxBodyBytes } = this.#context;
    const html = await source(opened.session, maxBodyBytes - this.#scraped);
    if (html === null) throw tooLarge(maxBodyBytes);
    this.#scraped += html.length;
    this.taken.scrapes.push({ url: opened.page.url(), html });
  }

  /** Not shortened to the remaining time: a wait beyond the page's timeout fails with a message. */
  #wait(ms: number): Promise<void> {
    const { opened, clock, signal } = this.#context;
    return pageTime(opened.page, ms, { clock, signal });
  }

  /** Waits until the page has run for this long. */
  #pageTime(ms: number): Promise<void> {
    const { opened, clock, signal } = this.#context;
    return pageTime(opened.page, ms, { clock, signal, mostMs: this.#leftMs });
  }

  /** Waits until the effects of the action have settled, as far as detectable. */
  async #settle(): Promise<void> {
    const { traffic, clock, signal, deadline, complete } = this.#context;
    await this.#pageTime(EFFECT_MS);
    await traffic.quiet(Math.min(clock.monotonic() + SETTLE_MS, deadline), signal);
    if (!signal.aborted) await complete();
  }
}

interface Extent {
  height: number;
  elements: number;
}

function isMore(before: Extent, after: Extent): boolean {
  return after.height > before.height || after.elements > before.elements;
}

function isTimeout(error: unknown): error is Error {
  return error instanceof Error && error.name === "TimeoutError";
}

/** Playwright's reasons for not clicking an element; a timeout without one means that it did not finish checking. */
const NOT_CLICKABLE = /intercepts pointer events|not visible|outside of the viewport|not enabled|not stable/;

/** An error with a message for the user. */
class ActionError extends Error {}

function isClassified(error: unknown): boolean {
  return error instanceof FetchFailure && error.failure.reason !== "browser_failed";
}

function failed(action: string, message: string, cause?: unknown): FetchFailure {
  return new FetchFailure("action_failed", `${action}: ${message}`, cause === undefined ? {} : { cause });
}

const NOTHING_MATCHES = "nothing on the page matches";
const MAX_SHOWN = 100;

/** Never shows written text: it may be a secret. */
function shown(action: BrowserAction): string {
  const quoted = (text: string) => JSON.stringify(text.slice(0, MAX_SHOWN));
  switch (action.type) {
    case "wait":
      return "selector" in action ? `wait for ${quoted(action.selector)}` : `wait ${action.milliseconds} ms`;
    case "click":
      return `click ${quoted(action.selector)}`;
    case "press":
      return `press ${quoted(action.key)}`;
    case "scroll":
      return `scroll ${action.direction}${action.selector === undefined ? "" : ` in ${quoted(action.selector)}`}`;
    case "scroll_to_end":
      return `scroll to the end${action.selector === undefined ? "" : ` of ${quoted(action.selector)}`}`;
    default:
      return action.type;
  }
}

/** The part of Playwright's message that helps the author of the action. */
function messageOf(error: unknown): string {
  if (error instanceof ActionError) return error.message;
  const text = error instanceof Error ? error.message : String(error);
  if (/Unexpected token|is not a valid selector|Malformed|parsing css selector|Unsupported token/i.test(text))
    return "it is not a valid CSS selector";
  if (isTimeout(error)) {
    if (/intercepts pointer events/.test(text)) return "another element covers it";
    if (/not visible|outside of the viewport/.test(text)) return "it is on the page, but not visible";
    if (/not enabled/.test(text)) return "it is disabled";
    return /resolved to/.test(text) ? "it could not be clicked" : NOTHING_MATCHES;
  }
  const [line = ""] = text.split("\n");
  return line.replace(/^\w+(?:\.\w+)+: /, "").slice(0, 200);
}
