/** MathML as a line of text: `(a+b)/2`, `x^2`, `√(x)`. For formulas without TeX. */
import type { Element } from "../dom/nodes.ts";
import { rawText, squeeze } from "../dom/text.ts";

const SILENT = new Set(["annotation", "annotation-xml", "mphantom", "mspace"]);

export function mathText(element: Element): string {
  return squeeze(textOf(element, 0));
}

function childrenOf(element: Element): Element[] {
  const list: Element[] = [];
  for (let node = element.first; node !== null; node = node.next) if (node.kind === 1) list.push(node);
  return list;
}

function textOf(element: Element, depth: number): string {
  const { name } = element.tag;
  if (SILENT.has(name) || depth > 100) return "";
  const parts = childrenOf(element);
  const part = (index: number) => (parts[index] === undefined ? "" : textOf(parts[index], depth + 1));
  switch (name) {
    case "mi":
    case "mn":
    case "ms":
    case "mtext":
      return squeeze(rawText(element));
    case "mo":
      return operator(squeeze(rawText(element)));
    case "mfrac":
      return `${grouped(part(0))}/${grouped(part(1))}`;
    case "msup":
      return `${part(0)}^${grouped(part(1))}`;
    case "msub":
      return `${part(0)}_${grouped(part(1))}`;
    case "msubsup":
    case "munderover":
      return `${part(0)}_${grouped(part(1))}^${grouped(part(2))} `;
    case "munder":
      return `${part(0)}_${grouped(part(1))} `;
    case "mover":
      return part(0) + part(1);
    case "msqrt":
      return `√(${all(parts, depth)})`;
    case "mroot":
      return `${grouped(part(0))}^(1/${part(1)})`;
    case "mfenced":
      return `${element.attr("open") ?? "("}${parts.map((each) => textOf(each, depth + 1)).join(", ")}${element.attr("close") ?? ")"}`;
    case "mtr":
    case "mlabeledtr":
      return `${parts.map((each) => textOf(each, depth + 1)).join(", ")}; `;
    case "mtable":
      return all(parts, depth).replace(/; $/, "");
    default:
      return all(parts, depth);
  }
}

function all(parts: readonly Element[], depth: number): string {
  return parts.map((part) => textOf(part, depth + 1)).join("");
}

/** Drops invisible operators, such as "times"; adds spaces around relations. */
function operator(text: string): string {
  if (/^[\u2061-\u2064]?$/.test(text)) return "";
  return /^[=<>≤≥≠≈→←⇒⇔∈∉⊂⊆∪∩+−±×·:,;]$/.test(text) && !/[:,;]/.test(text) ? ` ${text} ` : text;
}

function grouped(text: string): string {
  const normalized = squeeze(text);
  return /^[\p{L}\p{N}.]*$/u.test(normalized) ? normalized : `(${normalized})`;
}
