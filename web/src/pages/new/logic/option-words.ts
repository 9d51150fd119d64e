/** Document and browser options of `orb scrape`. */
import type { Json } from "./new-values.ts";
import { option } from "../../../logic/shell.ts";

/** Null: not expressible as options. */
export function documentWords(document: Json | undefined): string[] | null {
  if (document === undefined) return [];
  const { formats, only_main_content: main, ...rest } = document;
  const [format, ...more] = formats as string[];
  if (format === undefined || more.length > 0 || Object.keys(rest).length > 0) return null;
  // The raw page is always complete.
  const isWhole = main === false;
  const known = isWhole ? ["raw_html"] : ["html", "links", "images"];
  return known.includes(format) ? [option("--format", format)] : null;
}

/** Null: not expressible as options. */
export function browserWords(browser: Json | undefined): string[] | null {
  if (browser === undefined) return [];
  const { wait_for: waitFor, wait_ms: waitMs, mobile, actions = [], ...rest } = browser;
  const wait = waitMs === undefined ? [] : waitWords(waitMs);
  const done = (actions as Json[]).map(actionWord);
  if (wait === null || Object.keys(rest).length > 0 || !done.every((word) => word !== null)) return null;
  return [
    ...(waitFor === undefined ? [] : [option("--wait-for", String(waitFor))]),
    ...wait,
    ...(mobile === true ? ["--mobile"] : []),
    ...done.map((word) => option("--action", word)),
  ];
}

/** Options are in seconds. */
function waitWords(ms: unknown): string[] | null {
  if (typeof ms !== "number" || !Number.isInteger(ms) || ms <= 0) return null;
  return [option("--wait", String(ms / 1000))];
}

function actionWord({ type, ...how }: Json): string | null {
  const { selector, all, text, key, milliseconds, direction, amount, secret, max_steps: steps } = how;
  const alone = Object.keys(how).length;
  if (type === "click" && isWord(selector)) return `click${all === true ? "-all" : ""}=${selector}`;
  if (type === "write" && isWord(text)) return `${secret === true ? "write-secret" : "write"}=${text}`;
  if (type === "press" && isWord(key)) return `press=${key}`;
  if (type === "wait" && Number.isInteger(milliseconds) && Number(milliseconds) >= 0)
    return `wait=${String(milliseconds)}`;
  if (type === "wait" && isWord(selector) && !/^\d+$/.test(selector)) return `wait=${selector}`;
  if (type === "scroll_to_end") {
    if (alone !== (steps === undefined ? 0 : 1)) return null;
    return steps === undefined ? "scroll=end" : `scroll=end:${String(steps)}`;
  }
  if (type !== "scroll" || alone !== (amount === undefined ? 1 : 2)) return null;
  if (amount === undefined) return `scroll=${String(direction)}`;
  return Number.isInteger(amount) && Number(amount) >= 0 ? `scroll=${String(direction)}:${String(amount)}` : null;
}

const isWord = (value: unknown): value is string => typeof value === "string" && value !== "";
