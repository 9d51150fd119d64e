/** Extracts formulas from MathML, and from the output of TeX renderers. */
import { type Element, elementsBelow } from "../dom/nodes.ts";
import { rawText, squeeze } from "../dom/text.ts";
import { mathText } from "./mathml.ts";

export interface Formula {
  /** Without dollar signs; null: the page has no TeX. */
  tex: string | null;
  /** The plain-text fallback. */
  line: string;
  isDisplay: boolean;
}

export function formulaText({ tex, line, isDisplay }: Formula): string {
  if (tex === null) return line;
  return isDisplay ? `$$${tex}$$` : `$${tex}$`;
}

/** Whether the element contains a formula, so that literal dollar signs need escaping. */
export function holdsFormula(top: Element): boolean {
  for (const element of elementsBelow(top)) if (formulaAt(element) !== null) return true;
  return false;
}

/** Fast path: this check runs on every element of every page. */
const NAMES = new Set(["math", "script", "mjx-container", "span", "div", "p", "img"]);
const CLASSES = /math|katex|tex/i;
const WRAPPERS =
  /(?:^|\s)(?:katex(?:-display|-block)?|mwe-math-element|math-container|MathJax(?:_Display|_CHTML|_SVG)?|math)(?:\s|$)/;
/** MathJax output precedes the script with its TeX. */
const DRAWINGS = /(?:^|\s)MathJax(?:_\w+)?(?:\s|$)/;
const DISPLAY = /(?:^|\s)(?:katex-(?:display|block)|display|mwe-math-fallback-image-display|MathJax_Display)(?:\s|$)/;
const PICTURES = /(?:^|\s)(?:latex|tex|mwe-math-fallback-image-\w+)(?:\s|$)/;

/** The rendering before the MathML has hundreds of elements. */
const MAX_SEARCHED = 2000;

/** Null: not a formula. `drawn`: the rendering of a formula whose source is elsewhere. */
export function formulaAt(element: Element): Formula | "drawn" | null {
  const { name } = element.tag;
  if (!NAMES.has(name)) return null;
  if (name === "math") return mathFormula(element);
  if (name === "script") return scriptFormula(element);
  if (name === "mjx-container") return firstMath(element);
  const names = element.attr("class");
  if (names === undefined || !CLASSES.test(names)) return null;
  if (name === "img") return PICTURES.test(names) ? pictureFormula(element, names) : null;
  if (DRAWINGS.test(names) && isBesideScript(element)) return "drawn";
  return WRAPPERS.test(names) ? (firstMath(element) ?? delimitedFormula(element)) : null;
}

function scriptFormula(script: Element): Formula | null {
  const type = /^math\/tex\b(.*)$/i.exec(script.attr("type") ?? "");
  return type === null ? null : texFormula(rawText(script), /mode\s*=\s*display/.test(type[1] ?? ""));
}

function isBesideScript(element: Element): boolean {
  let left = 3;
  for (let node = element.next; node !== null && left > 0; node = node.next) {
    if (node.kind !== 1) continue;
    if (node.tag.name === "script" && /^math\/tex/i.test(node.attr("type") ?? "")) return true;
    left -= 1;
  }
  return false;
}

function pictureFormula(image: Element, names: string): Formula | null {
  const alt = image.attr("alt") ?? "";
  return alt.trim() === "" ? null : texFormula(alt, DISPLAY.test(names));
}

function firstMath(wrapper: Element): Formula | null {
  const isDisplay = DISPLAY.test(wrapper.attr("class") ?? "") || wrapper.attr("display") === "true";
  let picture: Formula | null = null;
  let left = MAX_SEARCHED;
  for (const element of elementsBelow(wrapper)) {
    const { name } = element.tag;
    const formula = name === "math" ? mathFormula(element) : null;
    if (formula !== null) return { ...formula, isDisplay: formula.isDisplay || isDisplay };
    const names = name === "img" ? element.attr("class") : undefined;
    if (names !== undefined && PICTURES.test(names)) picture ??= pictureFormula(element, names);
    left -= 1;
    if (left === 0) break;
  }
  return picture;
}

/** Client-side rendered formulas: `\(x\)`, `\[x\]`, `$x$` and nothing else. */
function delimitedFormula(element: Element): Formula | null {
  const only = element.first;
  if (only === null || only.kind !== 3 || only.next !== null) return null;
  const match = /^\s*(?:\\\(([^]+)\\\)|\\\[([^]+)\\\]|\$\$([^$]+)\$\$|\$([^$]+)\$)\s*$/.exec(only.data);
  if (match === null) return null;
  const display = match[2] ?? match[3];
  return texFormula(display ?? match[1] ?? match[4] ?? "", display !== undefined);
}

function mathFormula(math: Element): Formula | null {
  const isDisplay = math.attr("display") === "block" || math.attr("mode") === "display";
  for (const element of elementsBelow(math)) {
    if (element.tag.name !== "annotation" || !/tex/i.test(element.attr("encoding") ?? "")) continue;
    const formula = texFormula(rawText(element), isDisplay);
    if (formula !== null) return formula;
  }
  const alternative = math.attr("alttext");
  const formula = alternative === undefined ? null : texFormula(alternative, isDisplay);
  if (formula !== null) return formula;
  const line = mathText(math);
  return line === "" ? null : { tex: null, line, isDisplay };
}

function texFormula(source: string, isDisplay: boolean): Formula | null {
  const even = squeeze(source);
  const styled = /^\{\\(?:display|text)style\s*([^]*)\}$/.exec(even)?.[1];
  const tex = styled !== undefined && isBalanced(styled) ? styled.trim() : even;
  return tex === "" ? null : { tex, line: "", isDisplay };
}

/** Whether the removed outer braces matched each other. */
function isBalanced(tex: string): boolean {
  let depth = 0;
  for (const brace of tex.match(/\\.|[{}]/g) ?? []) {
    if (brace === "{") depth += 1;
    else if (brace === "}") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
