/** The text of an element for reading a number: `19<sup>99</sup>` is 19.99, `10<sup>6</sup>` is 10^6. */
import type { Element } from "../dom/nodes.ts";
import { isBlock, squeeze } from "../dom/text.ts";
import { hasCurrency } from "./currency.ts";

const SILENT: ReadonlySet<string> = new Set(["script", "style", "template", "noscript"]);
const STRUCK: ReadonlySet<string> = new Set(["del", "s", "strike"]);
/** Includes white space between tags. */
const MAX_NODES = 300;
/** Elements for the part after the decimal mark. */
const CENTS = /(?:^|[\s_-])(?:cents?|centimes?|centavos?|pence|fraction|decimals?)(?:[\s_-]|$)/i;
/** Around a part that may be cents, an exponent or a footnote. */
const [OPEN, CLOSE] = ["\u0001", "\u0002"];
// eslint-disable-next-line no-control-regex
const RAISED = /([\d.,' \u00a0\u202f]*)\u0001([^\u0001\u0002]*)\u0002/g;
// eslint-disable-next-line no-control-regex
const MARKS = /[\u0001\u0002]/g;

/** Crossed-out prices; a number that is crossed out is not the number of the page. */
export function isStruck(element: Element): boolean {
  return STRUCK.has(element.tag.name) || /line-through/i.test(element.attr("style") ?? "");
}

/** Null: longer than the limit. */
export function amountText(
  element: Element,
  limit: number,
  skip: (part: Element) => boolean = isStruck,
): string | null {
  const parts: string[] = [];
  let left = limit * 4;
  let nodes = 0;
  const visit = (holder: Element): void => {
    for (let node = holder.first; node !== null && left >= 0 && nodes <= MAX_NODES; node = node.next) {
      nodes += 1;
      if (node.kind === 3) {
        const text = (node.sourceLength > left * 8 ? node.data.slice(0, left * 8) : node.data).replace(MARKS, "");
        parts.push(text);
        left -= squeeze(text).length;
      } else if (!SILENT.has(node.tag.name) && !skip(node)) {
        const isRaised = node.tag.name === "sup" || CENTS.test(node.attr("class") ?? "");
        const gap = isBlock(node) ? " " : "";
        parts.push(isRaised ? OPEN : gap);
        visit(node);
        parts.push(isRaised ? CLOSE : gap);
      }
    }
  };
  visit(element);
  if (left < 0 || nodes > MAX_NODES) return null;
  const raw = parts.join("");
  const text = squeeze(raw.includes(OPEN) ? onTheLine(raw) : raw);
  return text.length > limit ? null : text;
}

function onTheLine(text: string): string {
  const isMoney = hasCurrency(text);
  return text
    .replace(RAISED, (_all, before: string, raised: string) => {
      const part = squeeze(raised);
      if (!/\d\s*$/.test(before) || !/^[+\-−]?\d+$/.test(part)) return `${before}${raised}`;
      const base = squeeze(before);
      if (isMoney) return /^\d\d$/.test(part) && !/[.,]\d\d?$/.test(base) ? `${base}.${part}` : `${base} [${part}]`;
      return base === "10" ? `10^${part}` : `${base} [${part}]`;
    })
    .replace(MARKS, "");
}
