/** What is done on a page before it is read. */
import type { Locator } from "playwright-core";
import { type Clock, sleep } from "../../base/clock.ts";
import { FetchFailure } from "../../domain/failure.ts";
import type { BrowserAction } from "../../domain/page-wishes.ts";
import type { TakenFromPage } from "../page.ts";
import { tooLarge } from "./document.ts";
import { source } from "./evidence.ts";
import { isGone, type OpenPage } from "./instance.ts";
import { takePicture } from "./picture.ts";
import type { PageTraffic } from "./settle.ts";

export interface ActionSurroundings {
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
const MOST_CLICKS = 100;
/** Longer texts are put in at once, and not key by key. */
const TYPED = 500;
const MOST_PICTURE_BYTES = 64 * 1024 * 1024;

export class PageActions {
  readonly #around: ActionSurroundings;
  readonly taken: NonNullable<TakenFromPage["actions"]> = { screenshots: [], scrapes: [] };
  /** What is done just now, for whoever runs out of time. */
  doing: string | null = null;
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

  /** Fails when the last action led to where the page may not go. */
  refuse(): void {
    const why = this.#around.refusal();
    if (why !== null && this.doing !== null)
      throw new FetchFailure(why.failure.reason, `${this.doing}: ${why.failure.message}`, { cause: why });
  }

  #do(action: BrowserAction): Promise<void> {
    switch (action.type) {
      case "wait":
        return "selector" in action ? this.#waitFor(action.selector) : this.#sleep(action.milliseconds);
      case "click":
        return this.#click(action.selector, action.all === true);
      case "write":
        return this.#write(action.text);
      case "press":
        return this.#press(action.key);
      case "scroll":
        return this.#scroll(action);
      case "screenshot":
        return this.#screenshot(action.full_page === true);
      case "scrape":
        return this.#scrape();
    }
  }

  get #left(): number {
    return Math.max(1, this.#around.lastLookAt - this.#around.clock.monotonic());
  }

  #sleep(ms: number): Promise<void> {
    return sleep(this.#around.clock, ms, this.#around.signal);
  }

  /** To Playwright the prefix says that it is CSS and nothing else. */
  #find(selector: string): Locator {
    return this.#around.opened.page.locator(`css=${selector}`);
  }

  async #waitFor(selector: string, mostMs = this.#left): Promise<void> {
    await this.#find(selector).first().waitFor({ state: "attached", timeout: mostMs });
  }

  async #click(selector: string, all: boolean): Promise<void> {
    await this.#waitFor(selector, Math.min(ELEMENT_MS, this.#left));
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
    await element.click({ trial: true, timeout: Math.min(ELEMENT_MS, this.#left) });
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
    if (selector !== undefined) await this.#waitFor(selector, Math.min(ELEMENT_MS, this.#left));
    const what =
      selector === undefined ? "document.scrollingElement" : `document.querySelector(${JSON.stringify(selector)})`;
    const far = amount ?? "(what.clientHeight || innerHeight)";
    const expression = `(() => { const what = ${what}; what?.scrollBy({ top: ${direction === "up" ? "-" : ""}${far}, behavior: "instant" }); })()`;
    await this.#around.opened.session.send("Runtime.evaluate", { expression });
    await this.#rest();
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

  /** Until what the action has set off is there, as far as that can be told. */
  async #rest(): Promise<void> {
    const { traffic, clock, signal, lastLookAt, complete } = this.#around;
    await sleep(clock, BEGIN_MS, signal);
    await traffic.quiet(Math.min(clock.monotonic() + REST_MS, lastLookAt), signal);
    if (!signal.aborted) await complete();
  }
}

/** What keeps an action from being done, in our words. */
class Refused extends Error {}

function isOurs(error: unknown): boolean {
  return error instanceof FetchFailure && error.failure.reason !== "browser_failed";
}

function failed(action: string, message: string, cause?: unknown): FetchFailure {
  return new FetchFailure("action_failed", `${action}: ${message}`, cause === undefined ? {} : { cause });
}

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
    default:
      return action.type;
  }
}

/** Of what Playwright says, what helps whoever wrote the action. */
function messageOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  const text = error instanceof Error ? error.message : String(error);
  if (/Unexpected token|is not a valid selector|Malformed|parsing css selector|Unsupported token/i.test(text))
    return "the browser cannot read it as a CSS selector";
  if (error instanceof Error && error.name === "TimeoutError") {
    if (/intercepts pointer events/.test(text)) return "something else covers it";
    if (/not visible|outside of the viewport/.test(text)) return "it is there, but cannot be seen";
    if (/not enabled/.test(text)) return "it is disabled";
    return /resolved to/.test(text) ? "it could not be clicked" : "nothing on the page matches";
  }
  const [line = ""] = text.split("\n");
  return line.replace(/^\w+(?:\.\w+)+: /, "").slice(0, 200);
}
