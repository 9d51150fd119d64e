/** What is done on a page before it is read. */
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

interface ActionSurroundings {
  opened: OpenPage;
  traffic: PageTraffic;
  clock: Clock;
  maxBodyBytes: number;
  signal: AbortSignal;
  /** What is not there at this moment of the monotonic clock is waited for no more. */
  lastLookAt: number;
  /** Waits for the document that came in the place of another. */
  complete(): Promise<void>;
  /** Why the page was not let go where it wanted to, when that was after the last time that this was asked. */
  refusal(): FetchFailure | null;
  /** The page has become something that is no page. Throws what ended the visit. */
  hasLeft(): boolean;
}

/** What is to be clicked should be there: the page has come to rest. What comes later is waited for. */
const ELEMENT_MS = 5_000;
/** A click is over before what it leads to has begun. */
const BEGIN_MS = 60;
const REST_MS = 3_000;
/** Lists wait a moment before they load what comes next. */
const LATE_MS = 1_000;
const MOST_CLICKS = 100;
/** Longer texts are put in at once, and not key by key. */
const TYPED = 500;
const MOST_PICTURE_BYTES = 64 * 1024 * 1024;

export class PageActions {
  readonly #around: ActionSurroundings;
  readonly taken: NonNullable<TakenFromPage["actions"]> = { screenshots: [], scrapes: [] };
  /** The current action, for the timeout message. */
  doing: string | null = null;
  /** What is waited for has all the time there is: when that is over, it did not come. */
  #waits = false;
  #scraped = 0;

  constructor(around: ActionSurroundings) {
    this.#around = around;
  }

  /** One after the other. Throws a FetchFailure that names the action that could not be done. */
  async do(actions: readonly BrowserAction[]): Promise<void> {
    const { signal, hasLeft } = this.#around;
    for (const [index, action] of actions.entries()) {
      if (signal.aborted) return;
      this.doing = `browser.actions[${index}] (${shown(action)})`;
      if (hasLeft()) throw failed(this.doing, "an action before it led to something that is no page");
      try {
        await this.#do(action);
      } catch (error) {
        if (signal.aborted || isGone(error) || isOurs(error)) throw error;
        throw failed(this.doing, messageOf(error), error);
      }
      this.refuse();
    }
  }

  /** Why the time was over with what is done just now; null: that is no answer. */
  get overdue(): FetchFailure | null {
    return this.#waits && this.doing !== null ? failed(this.doing, NOTHING_MATCHES) : null;
  }

  /** Fails when the last action led to where the page may not go. */
  refuse(): void {
    const why = this.#around.refusal();
    if (why !== null && this.doing !== null)
      throw new FetchFailure(why.failure.reason, `${this.doing}: ${why.failure.message}`, { cause: why });
  }

  #do(action: BrowserAction): Promise<void> {
    switch (action.type) {
      case "wait":
        return "selector" in action ? this.#waitUntilThere(action.selector) : this.#wait(action.milliseconds);
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

  get #left(): number {
    return Math.max(1, this.#around.lastLookAt - this.#around.clock.monotonic());
  }

  /** To Playwright the prefix says that it is CSS and nothing else. */
  #find(selector: string): Locator {
    return this.#around.opened.page.locator(`css=${selector}`);
  }

  async #waitUntilThere(selector: string): Promise<void> {
    this.#waits = true;
    await this.#waitFor(selector, this.#left);
    this.#waits = false;
  }

  async #waitFor(selector: string, mostMs: number): Promise<void> {
    await this.#find(selector).first().waitFor({ state: "attached", timeout: mostMs });
  }

  /** What should be there, as the page has come to rest. */
  #waitSoonFor(selector: string): Promise<void> {
    return this.#soon(
      (mostMs) => this.#waitFor(selector, mostMs),
      async () => (await this.#find(selector).count()) === 0,
    );
  }

  /**
   * Within a few seconds, of which the page has had as much as that: on a busy machine the time may be over before
   * anybody has looked. `isSure`: somebody has, and it is as the error says.
   */
  async #soon(
    attempt: (mostMs: number) => Promise<void>,
    isSure: (error: Error) => boolean | Promise<boolean>,
  ): Promise<void> {
    const patience = this.#turns(ELEMENT_MS);
    patience.catch(() => {});
    for (;;) {
      try {
        return await attempt(Math.min(ELEMENT_MS, this.#left));
      } catch (error) {
        if (!isTimeout(error) || this.#left <= 1 || this.#around.signal.aborted) throw error;
        await patience;
        if (await isSure(error)) throw error;
      }
    }
  }

  async #click(selector: string, all: boolean): Promise<void> {
    await this.#waitSoonFor(selector);
    const elements = all ? (await this.#find(selector).elementHandles()).slice(0, MOST_CLICKS) : [];
    if (!all) await this.#clickOn(this.#find(selector).first());
    for (const element of elements) {
      // A click may take the next ones away.
      const isThere = await element.isVisible().catch(() => false);
      if (isThere) await this.#clickOn(element);
    }
    await this.#rest();
  }

  /** It is to be reachable soon; where the click leads may take its time. */
  async #clickOn(element: Pick<Locator, "click">): Promise<void> {
    await this.#soon(
      (timeout) => element.click({ trial: true, timeout }),
      ({ message }) => WHY_NOT.test(message),
    );
    await element.click({ timeout: this.#left });
  }

  async #write(text: string): Promise<void> {
    const { page, session } = this.#around.opened;
    const expression = "![null, document.body, document.documentElement].includes(document.activeElement)";
    const { result } = await session.send("Runtime.evaluate", { expression, returnByValue: true });
    if (result.value !== true) throw new Refused("nothing on the page has the focus: click what is to be written into");
    if (text.length <= TYPED) await page.keyboard.type(text);
    else await page.keyboard.insertText(text);
    await this.#rest();
  }

  async #press(key: string): Promise<void> {
    await this.#around.opened.page.keyboard.press(key);
    await this.#rest();
  }

  async #scroll({ direction, amount, selector }: Extract<BrowserAction, { type: "scroll" }>): Promise<void> {
    if (selector !== undefined) await this.#waitSoonFor(selector);
    const what =
      selector === undefined ? "document.scrollingElement" : `document.querySelector(${JSON.stringify(selector)})`;
    const far = amount ?? "(what.clientHeight || innerHeight)";
    const expression = `(() => { const what = ${what}; what?.scrollBy({ top: ${direction === "up" ? "-" : ""}${far}, behavior: "instant" }); })()`;
    await this.#around.opened.session.send("Runtime.evaluate", { expression });
    await this.#rest();
  }

  /** Until nothing new comes. A list may have no end: what is there when its bounds are reached is the page. */
  async #scrollToEnd(action: Extract<BrowserAction, { type: "scroll_to_end" }>): Promise<void> {
    const { max_steps: most = SCROLL_TO_END.steps, max_seconds: seconds = SCROLL_TO_END.seconds, selector } = action;
    const { clock, signal, lastLookAt } = this.#around;
    if (selector !== undefined) await this.#waitSoonFor(selector);
    const until = Math.min(clock.monotonic() + seconds * 1000, lastLookAt);
    const goesOn = () => !signal.aborted && clock.monotonic() < until;
    let before = await this.#extent(selector);
    for (let step = 0; step < most && goesOn(); step += 1) {
      let after = await this.#scrollDown(selector, until, "once");
      // Some lists load when they are scrolled a moment later, or only when they were not at their end before.
      if (!isMore(before, after) && goesOn()) after = await this.#scrollDown(selector, until, "again");
      if (!isMore(before, after)) return;
      before = after;
    }
  }

  async #scrollDown(selector: string | undefined, until: number, how: "once" | "again"): Promise<Extent> {
    const { traffic, signal } = this.#around;
    const begun = traffic.started;
    const back = how === "again" ? "what.scrollBy({ top: -innerHeight, behavior: 'instant' });" : "";
    await this.#inPage(selector, `${back} what.scrollTo({ top: what.scrollHeight, behavior: "instant" });`);
    await this.#turns(how === "again" ? LATE_MS : BEGIN_MS);
    await traffic.endedSince(begun, until, signal);
    await this.#rest();
    return this.#extent(selector);
  }

  async #extent(selector: string | undefined): Promise<Extent> {
    const counted = await this.#inPage(selector, 'return [what.scrollHeight, what.querySelectorAll("*").length];');
    const [height = 0, elements = 0] = Array.isArray(counted) ? (counted as number[]) : [];
    return { height, elements };
  }

  /** `body` is run with the element that is scrolled as `what`; nothing when there is none. */
  async #inPage(selector: string | undefined, body: string): Promise<unknown> {
    const what =
      selector === undefined ? "document.scrollingElement" : `document.querySelector(${JSON.stringify(selector)})`;
    const expression = `(() => { const what = ${what}; if (what === null) return null; ${body} })()`;
    const { result } = await this.#around.opened.session.send("Runtime.evaluate", { expression, returnByValue: true });
    return result.value as unknown;
  }

  async #screenshot(wholePage: boolean): Promise<void> {
    const { page, session } = this.#around.opened;
    const { screenshots } = this.taken;
    screenshots.push(await takePicture(page, session, wholePage ? "page" : "window", this.#left));
    if (screenshots.reduce((sum, { byteLength }) => sum + byteLength, 0) > MOST_PICTURE_BYTES)
      throw new Refused(`all pictures of the page together are larger than ${MOST_PICTURE_BYTES} bytes`);
  }

  async #scrape(): Promise<void> {
    const { opened, maxBodyBytes } = this.#around;
    const html = await source(opened.session, maxBodyBytes - this.#scraped);
    if (html === null) throw tooLarge(maxBodyBytes);
    this.#scraped += html.length;
    this.taken.scrapes.push({ url: opened.page.url(), html });
  }

  /** All of it, whatever time is left: a wait beyond the time of the page fails with a message. */
  #wait(ms: number): Promise<void> {
    const { opened, clock, signal } = this.#around;
    return pageTime(opened.page, ms, { clock, signal });
  }

  /** Lets the page have so much of its own time. */
  #turns(ms: number): Promise<void> {
    const { opened, clock, signal } = this.#around;
    return pageTime(opened.page, ms, { clock, signal, mostMs: this.#left });
  }

  /** Until the effects of the action have settled, as far as that is detectable. */
  async #rest(): Promise<void> {
    const { traffic, clock, signal, lastLookAt, complete } = this.#around;
    await this.#turns(BEGIN_MS);
    await traffic.quiet(Math.min(clock.monotonic() + REST_MS, lastLookAt), signal);
    if (!signal.aborted) await complete();
  }
}

/** How much there is to see. */
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

/** Why an element was not clicked, in Playwright's words; without any of them it was not looked at to the end. */
const WHY_NOT = /intercepts pointer events|not visible|outside of the viewport|not enabled|not stable/;

/** What keeps an action from being done, in our words. */
class Refused extends Error {}

function isOurs(error: unknown): boolean {
  return error instanceof FetchFailure && error.failure.reason !== "browser_failed";
}

function failed(action: string, message: string, cause?: unknown): FetchFailure {
  return new FetchFailure("action_failed", `${action}: ${message}`, cause === undefined ? {} : { cause });
}

const NOTHING_MATCHES = "nothing on the page matches";
const LONGEST_SHOWN = 100;

/** What is written may be a secret. */
function shown(action: BrowserAction): string {
  const quoted = (text: string) => JSON.stringify(text.slice(0, LONGEST_SHOWN));
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
  if (error instanceof Refused) return error.message;
  const text = error instanceof Error ? error.message : String(error);
  if (/Unexpected token|is not a valid selector|Malformed|parsing css selector|Unsupported token/i.test(text))
    return "the browser cannot read it as a CSS selector";
  if (isTimeout(error)) {
    if (/intercepts pointer events/.test(text)) return "something else covers it";
    if (/not visible|outside of the viewport/.test(text)) return "it is there, but cannot be seen";
    if (/not enabled/.test(text)) return "it is disabled";
    return /resolved to/.test(text) ? "it could not be clicked" : NOTHING_MATCHES;
  }
  const [line = ""] = text.split("\n");
  return line.replace(/^\w+(?:\.\w+)+: /, "").slice(0, 200);
}
