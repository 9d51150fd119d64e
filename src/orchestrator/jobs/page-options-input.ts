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
import { InputReader } from "../../domain/text/input-reader.ts";
import { readDocumentRequest } from "../../extract/document/spec.ts";
import { Problems } from "../../extract/rules/compile.ts";

interface PageOptionsInput {
  document?: Partial<DocumentRequest> | null;
  browser?: Partial<BrowserOptions> | null;
  strategy?: StrategyName;
  timeout_seconds?: number | null;
}

/** What sealing the secret texts of actions needs. */
interface SealWith {
  seal: Seal;
  /** The origins they are typed at; more than one is rejected. */
  origins: readonly string[];
  /** The current options. */
  before: { browser?: BrowserOptions | null } | null;
}

interface Read {
  document: DocumentRequest | null;
  browser: BrowserOptions | null;
}

/** `parsePlan` reports the document's own errors, because it reads it with the neighbouring fields. */
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
          readBrowser(input.browser, pathOf("browser"), problems),
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
      "is a secret, which is typed at one origin only, but the start URLs have several; start one crawl per origin",
    );
  const sealed = sealActions(actions, { seal, origin, before: before?.browser?.actions ?? [], report });
  return { ...browser, actions: sealed };
}

function refuseWithReplay(read: Read, problems: FieldError[], pathOf: (path: string) => string): void {
  const message = "cannot be combined with strategy api_replay, which fetches data instead of a page";
  if (read.document !== null) problems.push({ path: pathOf("document"), message });
  else if (browserNeeds(read) !== null) problems.push({ path: pathOf("browser"), message });
}

/** Waits longer than the timeout are rejected at once. */
function refuseLongWaits(browser: BrowserOptions, seconds: number | null, problems: FieldError[], path: string): void {
  if (seconds === null) return;
  const waits = (browser.actions ?? []).map((action) => ("milliseconds" in action ? action.milliseconds : 0));
  const total = waits.reduce((sum, wait) => sum + wait, browser.wait_ms ?? 0);
  if (total < seconds * 1000) return;
  const message = `waits for ${total} ms in total, but the page has only ${seconds * 1000} ms (timeout_seconds)`;
  problems.push({ path: browser.wait_ms === total ? `${path}.wait_ms` : path, message });
}

const LONGEST_WAIT_MS = 600_000;
const MOST_ACTIONS = 50;
const AN_ACTION = 'an object, such as {"type": "click", "selector": "#more"}';

function readBrowser(input: object, path: string, problems: FieldError[]): BrowserOptions {
  const reader = new InputReader(input, path, problems);
  const actions = reader.list("actions") ?? [];
  if (actions.length > MOST_ACTIONS)
    reader.addError("actions", `has ${actions.length} actions, at most ${MOST_ACTIONS} are allowed`);
  const browser = {
    wait_for: readSelector(reader, "wait_for") ?? null,
    block_resources: reader.flag("block_resources") ?? false,
    wait_ms: reader.number("wait_ms", { max: LONGEST_WAIT_MS }) ?? null,
    mobile: reader.flag("mobile") ?? false,
    actions: actions
      .slice(0, MOST_ACTIONS)
      .map((one, index) => readAction(new InputReader(one, reader.at(`actions[${index}]`), problems, AN_ACTION))),
  };
  reader.rejectUnknownKeys();
  return browser;
}

/** The keys of each action type, besides `type`. */
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
const REQUIRED: Readonly<Record<string, string>> = {
  click: "selector",
  write: "text",
  press: "key",
  scroll: "direction",
};

function readAction(action: InputReader): BrowserAction {
  action.require("type");
  const type = action.oneOf("type", ACTION_TYPES);
  if (type === undefined) return { type: "scrape" };
  for (const key of action.keys().filter((name) => name !== "type" && !ACTION_KEYS[type].includes(name)))
    action.addError(key.slice(0, 100), `cannot be combined with ${type}`);
  if (type === "wait" && action.has("milliseconds") === action.has("selector"))
    action.addError("", "needs either milliseconds or selector");
  action.require(REQUIRED[type] ?? "type");
  const values = {
    milliseconds: action.number("milliseconds", { max: LONGEST_WAIT_MS }),
    selector: readSelector(action, "selector"),
    all: action.flag("all"),
    text: action.text("text", { empty: false, max: 10_000 }),
    secret: action.flag("secret"),
    key: action.text("key", { empty: false, max: 100 }),
    direction: action.oneOf("direction", ["up", "down"]),
    amount: action.number("amount", { max: 1_000_000 }),
    max_steps: action.number("max_steps", { min: 1, max: 10_000 }),
    max_seconds: action.number("max_seconds", { min: 1, max: 3600 }),
    full_page: action.flag("full_page"),
  };
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return { type, ...Object.fromEntries(entries) } as BrowserAction;
}

function readSelector(reader: InputReader, key: string): string | undefined {
  const selector = reader.text(key, { empty: false, max: 2000, expected: "a CSS selector" });
  // To what drives the browser it is a step from one selector to the next.
  if (selector?.replace(/"[^"]*"|'[^']*'/g, "").includes(">>") === true) reader.addError(key, ">> is not CSS");
  return selector;
}
