/** Document and browser options of the form: typed, sent, and parsed back. */
import { type FieldProblem, definedOnly, type Json, list, number } from "./new-values.ts";

export const FORMATS = [
  { value: "markdown", name: "Markdown" },
  { value: "html", name: "HTML" },
  { value: "raw_html", name: "Raw HTML" },
  { value: "links", name: "Links" },
  { value: "images", name: "Images" },
  { value: "screenshot", name: "Screenshot" },
  { value: "screenshot_full", name: "Full-page screenshot" },
] as const;

export const ACTIONS = [
  { value: "click", name: "Click" },
  { value: "wait_for", name: "Wait for an element" },
  { value: "wait", name: "Wait" },
  { value: "write", name: "Type text" },
  { value: "press", name: "Press a key" },
  { value: "scroll", name: "Scroll" },
  { value: "scroll_to_end", name: "Scroll to the end" },
  { value: "screenshot", name: "Take a screenshot" },
  { value: "scrape", name: "Save the HTML" },
] as const;
export type ActionKind = (typeof ACTIONS)[number]["value"];

/** One action as typed; each kind uses some of it. */
export interface TypedAction {
  id: number;
  kind: ActionKind;
  selector: string;
  /** The text, the key, or the milliseconds. */
  text: string;
  direction: string;
  amount: string;
  /** All that match, or the whole page. */
  all: boolean;
  /** The text is write-only. */
  secret: boolean;
  /** A secret text is stored, and stays unless another one is typed. */
  kept: boolean;
}

export interface PageOptionFields {
  asDocument: boolean;
  formats: readonly string[];
  wholePage: boolean;
  includeTags: string;
  excludeTags: string;
  waitFor: string;
  waitMs: string;
  mobile: boolean;
  blockResources: boolean;
  actions: readonly TypedAction[];
}

export const NO_PAGE_OPTIONS: PageOptionFields = {
  asDocument: false,
  formats: ["markdown"],
  wholePage: false,
  includeTags: "",
  excludeTags: "",
  waitFor: "",
  waitMs: "",
  mobile: false,
  blockResources: false,
  actions: [],
};

export const newAction = (id: number, more: Partial<TypedAction> = {}): TypedAction => ({
  id,
  kind: "click",
  selector: "",
  text: "",
  direction: "down",
  amount: "",
  all: false,
  secret: false,
  kept: false,
  ...more,
});

/** Toggles a format; there is one screenshot, of the viewport or of the full page. */
export function withFormat(formats: readonly string[], format: string, isOn: boolean): string[] {
  const other = { screenshot: "screenshot_full", screenshot_full: "screenshot" }[format];
  const chosen = new Set(formats.filter((one) => one !== format && (one !== other || !isOn)));
  if (isOn) chosen.add(format);
  const known = FORMATS.map(({ value }) => value as string);
  return [...known.filter((one) => chosen.has(one)), ...[...chosen].filter((one) => !known.includes(one))];
}

export function documentOf(form: PageOptionFields): Json | undefined {
  if (!form.asDocument) return undefined;
  return definedOnly({
    formats: [...form.formats],
    only_main_content: form.wholePage ? false : undefined,
    include_tags: list(form.includeTags),
    exclude_tags: list(form.excludeTags),
  });
}

/** Undefined: no browser options. */
export function browserOf(form: PageOptionFields, problems: FieldProblem[]): Json | undefined {
  form.actions.forEach((action, n) => {
    const missing = missingOf(action);
    if (missing !== null) problems.push({ path: `browser.actions[${n}]`, message: missing });
  });
  const browser = definedOnly({
    wait_for: form.waitFor.trim() === "" ? undefined : form.waitFor.trim(),
    block_resources: form.blockResources ? true : undefined,
    wait_ms: number(form.waitMs),
    mobile: form.mobile ? true : undefined,
    actions: form.actions.length === 0 ? undefined : form.actions.map(actionToJson),
  });
  return Object.keys(browser).length === 0 ? undefined : browser;
}

/** An incomplete action, with a clearer message than the server's. */
function missingOf({ kind, selector, text, secret, kept }: TypedAction): string | null {
  if ((kind === "click" || kind === "wait_for") && selector.trim() === "") return "needs a CSS selector";
  if (kind === "wait" && text.trim() === "") return "needs milliseconds";
  if (kind === "write" && text === "" && !(secret && kept)) return "needs the text";
  return kind === "press" && text.trim() === "" ? "needs a key, such as Enter" : null;
}

function actionToJson({ kind, selector, text, direction, amount, all, secret, kept }: TypedAction): Json {
  const target = selector.trim() === "" ? undefined : selector.trim();
  switch (kind) {
    case "click":
      return definedOnly({ type: "click", selector: target ?? "", all: all ? true : undefined });
    case "wait_for":
      return { type: "wait", selector: target ?? "" };
    case "wait":
      return { type: "wait", milliseconds: number(text) ?? "" };
    case "write":
      return secret ? { type: "write", text: text === "" && kept ? HIDDEN : text, secret } : { type: "write", text };
    case "press":
      return { type: "press", key: text.trim() };
    case "scroll":
      return definedOnly({ type: "scroll", direction, amount: number(amount), selector: target });
    case "scroll_to_end":
      return definedOnly({
        type: "scroll_to_end",
        max_steps: number(amount),
        max_seconds: number(text),
        selector: target,
      });
    case "screenshot":
      return definedOnly({ type: "screenshot", full_page: all ? true : undefined });
    case "scrape":
      return { type: "scrape" };
  }
}

const typed = (value: unknown) => (value === undefined || value === null ? "" : String(value));
const typedLines = (value: unknown) => (Array.isArray(value) ? value.join("\n") : "");

/** Shown instead of a secret text. */
const HIDDEN = "***";

function actionFromJson(action: Json, id: number): TypedAction {
  const type = typed(action["type"]);
  const secret = action["secret"] === true;
  const kept = secret && action["text"] === HIDDEN;
  return newAction(id, {
    kind: (type === "wait" && action["selector"] !== undefined ? "wait_for" : type) as ActionKind,
    selector: typed(action["selector"]),
    text: kept ? "" : typed(action["text"] ?? action["key"] ?? action["milliseconds"] ?? action["max_seconds"]),
    secret,
    kept,
    direction: typed(action["direction"] ?? "down"),
    amount: typed(action["amount"] ?? action["max_steps"]),
    all: action["all"] === true || action["full_page"] === true,
  });
}

/** Of a job or a crawl, either of which may be absent. */
export function pageOptionsFrom({ document, browser }: Json): PageOptionFields {
  const page = (document ?? null) as Json | null;
  const view = (browser ?? {}) as Json;
  const actions = Array.isArray(view["actions"]) ? (view["actions"] as Json[]) : [];
  return {
    asDocument: page !== null,
    formats: Array.isArray(page?.["formats"]) ? page["formats"].map(String) : NO_PAGE_OPTIONS.formats,
    wholePage: page?.["only_main_content"] === false,
    includeTags: typedLines(page?.["include_tags"]),
    excludeTags: typedLines(page?.["exclude_tags"]),
    waitFor: typed(view["wait_for"]),
    waitMs: typed(view["wait_ms"]),
    mobile: view["mobile"] === true,
    blockResources: view["block_resources"] === true,
    actions: actions.map((action, n) => actionFromJson(action, n + 1)),
  };
}

/** The setting that needs a browser although "automatic" is selected; null: none does. */
export function browserReason(form: PageOptionFields): string | null {
  if (form.asDocument && form.formats.some((format) => format.startsWith("screenshot"))) return "Screenshot";
  if (form.actions.length > 0) return "Actions";
  if (form.mobile) return "Emulate a phone";
  if (form.waitFor.trim() !== "") return "Wait for";
  if (form.waitMs.trim() !== "") return "Then wait";
  return null;
}
