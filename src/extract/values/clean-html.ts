/**
 * Sanitizes HTML: serializes the tree with an allow-list of elements and attributes. Drops scripts, styles, frames, forms,
 * event handlers and URLs that run code; makes URLs absolute, uses the URLs of lazy images, and writes formulas as TeX.
 */
import { type Element, MAX_TEXT } from "../dom/nodes.ts";
import { formulaAt, formulaText } from "../markdown/formula.ts";
import { imageSource } from "./image-source.ts";
import { readSourceSet } from "./source-set.ts";

const ELEMENTS = new Set(
  "a abbr address article aside b bdi bdo blockquote br caption center cite code col colgroup data dd del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark nav ol p picture pre q rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr".split(
    " ",
  ),
);
/** Dropped with their content; other unknown elements keep their content. */
const DROPPED = new Set(
  "script style noscript template svg math iframe object embed applet frame frameset noframes noembed head title base link meta button input select textarea option canvas audio video plaintext xmp param track".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "abbr align alt cite class colspan datetime dir headers height href id lang open reversed rowspan scope span src srcset start title value width".split(
    " ",
  ),
);
const ADDRESSES = new Set(["href", "src", "cite", "action", "poster"]);
const VOID = new Set(["br", "col", "hr", "img", "input", "source", "track", "wbr"]);

interface CleanRules {
  elements: ReadonlySet<string>;
  dropped: ReadonlySet<string>;
  isKept(attribute: string): boolean;
}

/** For articles. */
const ARTICLE_RULES: CleanRules = { elements: ELEMENTS, dropped: DROPPED, isKept: (name) => ATTRIBUTES.has(name) };

const PAGE_ONLY_ELEMENTS =
  "audio button datalist dialog fieldset form input label legend meter optgroup option output progress search select textarea track video".split(
    " ",
  );
const PAGE_ONLY_ATTRIBUTES =
  "action checked content disabled for itemprop itemscope itemtype label loading max maxlength media method min multiple name placeholder poster property rel required role selected sizes type".split(
    " ",
  );
const pageElements = new Set([...ELEMENTS, ...PAGE_ONLY_ELEMENTS]);
const pageAttributes = new Set([...ATTRIBUTES, ...PAGE_ONLY_ATTRIBUTES]);

/** For whole pages: also forms and players, and attributes that programs select by. */
const PAGE_RULES: CleanRules = {
  elements: pageElements,
  dropped: new Set([...DROPPED].filter((name) => !pageElements.has(name))),
  isKept: (name) => pageAttributes.has(name) || /^(?:data|aria)-[\w.:-]+$/.test(name),
};

export type Resolve = (address: string) => string | null;

/** The inner HTML of the element. */
export function cleanHtml(
  element: Element,
  resolve: Resolve,
  keep: (element: Element) => boolean = () => true,
): string {
  return inner(element, { resolve, keep, wants: () => true, left: MAX_TEXT, rules: ARTICLE_RULES });
}

/** The outer HTML of the elements, by the rules for whole pages; `cut`: truncated at the length limit. */
export function cleanElements(
  elements: readonly Element[],
  resolve: Resolve,
  { keep, wants }: Choice,
): { html: string; cut: boolean } {
  const cleaning: Cleaning = { resolve, keep: () => true, wants, left: MAX_TEXT, rules: PAGE_RULES };
  const parts = elements.map((element) => {
    cleaning.keep = (inside) => inside === element || keep(inside);
    return cleaning.left > 0 ? cleanElement(element, cleaning).trim() : "";
  });
  return { html: parts.filter((part) => part !== "").join("\n"), cut: cleaning.left <= 0 };
}

interface Choice {
  keep(element: Element): boolean;
  /** Whether to include an invisible element, such as the source of a formula. */
  wants(element: Element): boolean;
}

interface Cleaning extends Choice {
  resolve: Resolve;
  /** Remaining characters. */
  left: number;
  rules: CleanRules;
}

function inner(element: Element, cleaning: Cleaning): string {
  let out = "";
  for (let node = element.first; node !== null && cleaning.left > 0; node = node.next) {
    if (node.kind === 3) cleaning.left -= node.data.length;
    out += node.kind === 3 ? escapeText(node.data) : cleanElement(node, cleaning);
  }
  return out;
}

function cleanElement(element: Element, cleaning: Cleaning): string {
  const { name } = element.tag;
  const { elements, dropped } = cleaning.rules;
  const formula = formulaAt(element);
  if (formula !== null) {
    if (formula === "drawn" || !cleaning.wants(element)) return "";
    return `<span class="math">${escapeText(formulaText(formula))}</span>`;
  }
  if (element.space !== 0 || dropped.has(name) || !cleaning.keep(element)) return "";
  cleaning.left -= 8;
  const content = VOID.has(name) ? "" : inner(element, cleaning);
  if (!elements.has(name)) return content;
  const tag = `<${name}${attributes(element, cleaning)}>`;
  cleaning.left -= tag.length;
  return VOID.has(name) ? tag : `${tag}${content}</${name}>`;
}

function attributes(element: Element, { resolve, rules }: Cleaning): string {
  const list = element.tag.name === "img" ? withResolvedSource(element) : element.attributes;
  let out = "";
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] as string;
    if (!rules.isKept(name)) continue;
    let value: string | null = list[index + 1] as string;
    if (ADDRESSES.has(name)) value = resolve(value);
    else if (name === "srcset") value = sourceSet(value, resolve);
    if (value !== null) out += ` ${name}="${escapeAttribute(value)}"`;
  }
  return out;
}

function withResolvedSource(image: Element): readonly string[] {
  const source = imageSource(image);
  if (source === null || source === image.attr("src")) return image.attributes;
  const list = [...image.attributes];
  const at = list.findIndex((name, index) => index % 2 === 0 && name === "src");
  if (at < 0) list.push("src", source);
  else list[at + 1] = source;
  return list;
}

function sourceSet(value: string, resolve: Resolve): string | null {
  const parts = readSourceSet(value).flatMap(({ address, size }) => {
    const url = resolve(address);
    return url === null ? [] : [size === "" ? url : `${url} ${size}`];
  });
  return parts.length === 0 ? null : parts.join(", ");
}

function escapeText(text: string): string {
  return /[&<>]/.test(text) ? text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") : text;
}

function escapeAttribute(text: string): string {
  return escapeText(text).replace(/"/g, "&quot;");
}
