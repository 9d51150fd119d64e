/** Validates page and browser options, with the path of every error. */
import type { FieldError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import {
  ACTION_TYPES,
  type BrowserAction,
  browserNeeds,
  type BrowserOptions,
  type DocumentRequest,
} from "../../domain/page/page-options.ts";
import type { StrategyName } from "../../domain/run/recipe.ts";
import { sealActions } from "../../domain/page/secret-actions.ts";
import { suggest } from "../../domain/text/suggest.ts";
import { readDocumentRequest } from "../../extract/document/spec.ts";
import { Problems } from "../../extract/rules/compile.ts";

interface PageOptionsInput {
  document?: Partial<DocumentRequest> | null;
  browser?: Partial<BrowserOptions> | null;
  strategy?: StrategyName;
  timeout_seconds?: number | null;
}

/** What sealing secret texts of actions needs. */
interface SealWith {
  seal: Seal;
  /** Where they are typed; several: they are refused. */
  origins: readonly string[];
  /** The current options. */
  before: { browser?: BrowserOptions | null } | null;
}

interface Read {
  document: DocumentRequest | null;
  browser: BrowserOptions | null;
}

/** The document's own mistakes are named by `parsePlan`, which reads it with the fields beside it. */
export function readPageOptions(
  input: PageOptionsInput,
  problems: FieldError[],
  sealing: SealWith,
  pathOf: (path: string) => string = (path) => path,
): Read {
  const browser =
    input.browser === undefined || input.browser === null
      ? null
      : withSealedTexts(
          new BrowserReader(input.browser, pathOf("browser"), problems).read(),
          sealing,
          pathOf("browser.actions"),
          problems,
        );
  const document =
    input.document === undefined || input.document === null
      ? null
      : readDocumentRequest(input.document, "document", new Problems());
  if (input.strategy === "api_replay") refuseWithReplay({ document, browser }, problems, pathOf);
  if (browser !== null) refuseLongWaits(browser, input.timeout_seconds ?? null, problems, pathOf("browser"));
  return { document, browser };
}

/** The options to store; nothing is sealed while there are errors. */
function withSealedTexts(
  browser: BrowserOptions,
  { seal, origins, before }: SealWith,
  path: string,
  problems: FieldError[],
): BrowserOptions {
  const { actions = [] } = browser;
  if (problems.length > 0 || !actions.some((action) => action.type === "write")) return browser;
  const report = (index: number, message: string) => problems.push({ path: `${path}[${index}].text`, message });
  const [origin = "", ...others] = origins;
  const secret = actions.findIndex((action) => action.type === "write" && action.secret === true);
  if (secret >= 0 && others.length > 0)
    report(
      secret,
      "is a secret, which is typed at one origin alone, and the crawl begins at several: begin one for each",
    );
  const sealed = sealActions(actions, { seal, origin, before: before?.browser?.actions ?? [], report });
  return { ...browser, actions: sealed };
}

function refuseWithReplay(read: Read, problems: FieldError[], pathOf: (path: string) => string): void {
  const message = "does not go with the strategy api_replay, which gets data and no page";
  if (read.document !== null) problems.push({ path: pathOf("document"), message });
  else if (browserNeeds(read) !== null) problems.push({ path: pathOf("browser"), message });
}

/** Waits that exceed the timeout are refused at once. */
function refuseLongWaits(browser: BrowserOptions, seconds: number | null, problems: FieldError[], path: string): void {
  if (seconds === null) return;
  const waits = (browser.actions ?? []).map((action) => ("milliseconds" in action ? action.milliseconds : 0));
  const total = waits.reduce((sum, wait) => sum + wait, browser.wait_ms ?? 0);
  if (total < seconds * 1000) return;
  const message = `waits for ${total} ms in all, and the page has ${seconds * 1000} (timeout_seconds)`;
  problems.push({ path: browser.wait_ms === total ? `${path}.wait_ms` : path, message });
}

const BROWSER_KEYS = ["wait_for", "block_resources", "wait_ms", "mobile", "actions"];
const LONGEST_WAIT_MS = 600_000;
const LONGEST_SELECTOR = 2000;
const LONGEST_TEXT = 10_000;
const MOST_ACTIONS = 50;
const FARTHEST_SCROLL = 1_000_000;
const MOST_STEPS = 10_000;
const MOST_SECONDS = 3600;

/** Which keys an action of each type has, besides `type`. */
const ACTION_KEYS: Readonly<Record<BrowserAction["type"], readonly string[]>> = {
  wait: ["milliseconds", "selector"],
  click: ["selector", "all"],
  write: ["text", "secret"],
  press: ["key"],
  scroll: ["direction", "amount", "selector"],
  scroll_to_end: ["max_steps", "max_seconds", "selector"],
  screenshot: ["full_page"],
  scrape: [],
};

class BrowserReader {
  readonly #input: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #problems: FieldError[];

  constructor(input: object, path: string, problems: FieldError[]) {
    this.#input = input as Record<string, unknown>;
    this.#path = path;
    this.#problems = problems;
  }

  read(): BrowserOptions {
    const input = this.#input;
    for (const key of Object.keys(input).filter((name) => !BROWSER_KEYS.includes(name)))
      this.#wrong(`.${key.slice(0, 100)}`, unknown("key", key, BROWSER_KEYS));
    const { wait_for: waitFor = null, wait_ms: waitMs = null, actions = [] } = input;
    if (waitFor !== null) this.#selector(waitFor, ".wait_for");
    if (waitMs !== null) this.#whole(waitMs, ".wait_ms", LONGEST_WAIT_MS);
    this.#flag(input["block_resources"], ".block_resources");
    this.#flag(input["mobile"], ".mobile");
    return {
      wait_for: waitFor as string | null,
      block_resources: input["block_resources"] === true,
      wait_ms: waitMs as number | null,
      mobile: input["mobile"] === true,
      actions: this.#actions(actions),
    };
  }

  #actions(input: unknown): BrowserAction[] {
    if (!Array.isArray(input)) {
      this.#wrong(".actions", "expected a list of actions");
      return [];
    }
    if (input.length > MOST_ACTIONS)
      this.#wrong(".actions", `has ${input.length} actions, at most ${MOST_ACTIONS} are allowed`);
    else for (const [index, action] of input.entries()) this.#action(action, `.actions[${index}]`);
    return input as BrowserAction[];
  }

  #action(input: unknown, at: string): void {
    if (typeof input !== "object" || input === null || Array.isArray(input))
      return this.#wrong(at, 'expected an object, such as {"type": "click", "selector": "#more"}');
    const action = input as Record<string, unknown>;
    const type = action["type"] as BrowserAction["type"];
    if (!ACTION_TYPES.includes(type)) return this.#wrong(`${at}.type`, unknown("action", String(type), ACTION_TYPES));
    const allowed = ACTION_KEYS[type];
    for (const key of Object.keys(action).filter((name) => name !== "type" && !allowed.includes(name)))
      this.#wrong(`${at}.${key.slice(0, 100)}`, `does not go with ${type}`);
    return this.#parts(type, action, at);
  }

  #parts(type: BrowserAction["type"], action: Readonly<Record<string, unknown>>, at: string): void {
    const { selector } = action;
    if (type === "wait" && (action["milliseconds"] === undefined) === (selector === undefined))
      return this.#wrong(at, "needs milliseconds or selector, one of them");
    if (selector !== undefined || type === "click") this.#selector(selector, `${at}.selector`);
    if (action["milliseconds"] !== undefined)
      this.#whole(action["milliseconds"], `${at}.milliseconds`, LONGEST_WAIT_MS);
    this.#flag(action["all"], `${at}.all`);
    this.#flag(action["full_page"], `${at}.full_page`);
    this.#flag(action["secret"], `${at}.secret`);
    if (type === "write") this.#text(action["text"], `${at}.text`, LONGEST_TEXT);
    if (type === "press") this.#text(action["key"], `${at}.key`, 100);
    if (action["max_steps"] !== undefined) this.#whole(action["max_steps"], `${at}.max_steps`, MOST_STEPS, 1);
    if (action["max_seconds"] !== undefined) this.#whole(action["max_seconds"], `${at}.max_seconds`, MOST_SECONDS, 1);
    if (type !== "scroll") return;
    if (action["direction"] !== "up" && action["direction"] !== "down")
      this.#wrong(`${at}.direction`, "expected up or down");
    if (action["amount"] !== undefined) this.#whole(action["amount"], `${at}.amount`, FARTHEST_SCROLL);
  }

  #wrong(at: string, message: string): void {
    this.#problems.push({ path: `${this.#path}${at}`, message });
  }

  #selector(value: unknown, at: string): void {
    this.#text(value, at, LONGEST_SELECTOR, "expected a CSS selector");
    // To what drives the browser it is a step from one selector to the next.
    if (typeof value === "string" && value.replace(/"[^"]*"|'[^']*'/g, "").includes(">>"))
      this.#wrong(at, "there is no >> in CSS");
  }

  #text(value: unknown, at: string, longest: number, expected = "expected a text"): void {
    if (typeof value !== "string" || value === "") this.#wrong(at, expected);
    else if (value.length > longest) this.#wrong(at, `is longer than ${longest} characters`);
  }

  #whole(value: unknown, at: string, most: number, least = 0): void {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      this.#wrong(at, `expected a whole number from ${least} to ${most}`);
  }

  #flag(value: unknown, at: string): void {
    if (value !== undefined && typeof value !== "boolean") this.#wrong(at, "expected true or false");
  }
}

function unknown(what: string, word: string, known: readonly string[]): string {
  const near = suggest(word, known);
  return `unknown ${what} "${word.slice(0, 100)}"${near === undefined ? `: known are ${known.join(", ")}` : `, did you mean "${near}"?`}`;
}
