/** Where the steps of a workflow send what they have: addresses in their texts, and the params that lead to them. */
import type { JsonValue } from "../../lane/queue-item.ts";
import { mapTexts } from "../../text/sealed-text.ts";

export interface StepText {
  /** The param of the step that it belongs to, or another part of the step. */
  key: string;
  text: string;
}

export function textsOf(step: JsonValue): StepText[] {
  const texts: StepText[] = [];
  mapTexts(step, (text, path) => {
    texts.push({ key: path[0] === "params" ? (path[1] ?? "") : (path[0] ?? ""), text });
    return text;
  });
  return texts;
}

const PARAMS = /\bparams\b(?:\s*\.\s*([\w-]+)|\s*\[\s*["']([^"']*)["']\s*\])?/g;

/** Whether a text has this param, or all of them. */
export function uses(text: string, name: string): boolean {
  if (!text.includes("params")) return false;
  return [...text.matchAll(PARAMS)].some(([, named, quoted]) => (named ?? quoted ?? name) === name);
}

/** The params that are addresses, by kind; of other kinds, any may be one. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  scrape: ["url", "urls", "field", "replay"],
  crawl: ["url"],
  download: ["urls", "field"],
  webhook: ["url"],
  label: ["endpoint"],
};

export function isAddress(kind: JsonValue | undefined, key: string): boolean {
  const keys = typeof kind === "string" && Object.hasOwn(ADDRESSES, kind) ? ADDRESSES[kind] : undefined;
  return keys === undefined || keys.includes(key) || key === "for_each";
}

const ITS_PARTS = /(\$\{\{[^}]*\}\})/;
const isExpression = (part: string) => part.startsWith("${{");

/** The expressions that decide which host an address has: up to the path. `isPath`: it follows a whole host. */
function headOf(text: string): { expression: string; isPath: boolean }[] {
  const found: { expression: string; isPath: boolean }[] = [];
  let literal = "";
  for (const part of text.trim().split(ITS_PARTS)) {
    if (isExpression(part)) {
      found.push({ expression: part, isPath: /:\/\/[^/?#{]*[\w\]]$/.test(literal) });
      literal += "{";
    } else literal += part;
    if (/[/?#]/.test(literal.includes("://") ? literal.slice(literal.indexOf("://") + 3) : literal)) break;
  }
  return found;
}

/** `${{ params.name }}` alone: the value is the address. */
const isBare = (text: string) => /^\s*\$\{\{\s*params\s*[.[][^}+(]*\}\}\s*$/.test(text);
const startsPath = (value: JsonValue | undefined) => typeof value === "string" && /^[/?#]/.test(value);

/** Whether another value of a param makes this another host, whatever the value looks like. */
export function leadsToHost(text: string, name: string, values: readonly (JsonValue | undefined)[]): boolean {
  if (isBare(text)) return false;
  return headOf(text).some(({ expression, isPath }) => uses(expression, name) && !(isPath && values.every(startsPath)));
}

/** Whether the host comes from an item, or from what another step gave. */
export function isFound(text: string): boolean {
  return headOf(text).some(({ expression }) => /\b(steps|item|items|inputs?)\b/.test(expression.replace(PARAMS, "")));
}

/** A scheme has few characters: a long text without an address is searched once. */
const WITH_SCHEME = /(?<![a-z\d+.-])[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'<>]+/gi;

/** As `URL` reads them: `https:a.example` is an address, too. */
export function originsIn(value: JsonValue): Set<string> {
  const origins = new Set<string>();
  mapTexts(value, (text) => {
    const named = text.match(WITH_SCHEME) ?? [];
    const whole = /^\s*(?:https?:|[/\\]{2})/i.test(text) ? [text] : [];
    for (const address of [...named, ...whole])
      origins.add(URL.parse(address, "https://relative.invalid")?.origin ?? address);
    return text;
  });
  return origins;
}
