/** Changes the layout of pages: the same change on all pages of a site, as a redesign does. */
import { hash } from "node:crypto";
import { type Element, type Node } from "../../src/extract/dom/nodes.ts";
import { parseHtml } from "../../src/extract/dom/parse.ts";

export const CHANGES = [
  "rename_classes",
  "remove_ids",
  "change_tags",
  "wrap",
  "unwrap",
  "insert",
  "columns",
  "reorder",
  "move",
] as const;
export type Change = (typeof CHANGES)[number];

const OTHER_TAGS: Readonly<Record<string, string>> = {
  span: "div",
  b: "strong",
  strong: "b",
  em: "i",
  h1: "h2",
  h2: "h3",
  h3: "h4",
  p: "div",
  div: "section",
};
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const RAW = new Set(["script", "style", "noscript", "title", "textarea"]);
/** Their parents accept nothing else inside, or nothing between. */
const FIXED = new Set([
  "html",
  "head",
  "body",
  "table",
  "tbody",
  "thead",
  "tr",
  "td",
  "th",
  "option",
  "select",
  "form",
]);

/** What moves stays in it. */
const PLACES = new Set(["body", "td", "th", "form", "li"]);

export class Redesign {
  readonly #seed: string;
  readonly #changes: ReadonlySet<Change>;
  /** Blocks that come to stand at the end of the cell, form or page that they are in. */
  #moved: string[] = [];

  constructor(seed: number, changes: readonly Change[]) {
    this.#seed = String(seed);
    this.#changes = new Set(changes);
  }

  apply(html: string): string {
    return this.#inner(parseHtml(html).root);
  }

  /** The same for all elements of this kind on all pages. */
  #chance(what: string, kind: string): number {
    return Number.parseInt(hash("md5", `${this.#seed} ${what} ${kind}`, "hex").slice(0, 8), 16) / 0xffffffff;
  }

  #does(change: Change, kind: string, part: number): boolean {
    return this.#changes.has(change) && this.#chance(change, kind) < part;
  }

  #inner(element: Element): string {
    const nodes: Node[] = [];
    for (let node = element.first; node !== null; node = node.next) nodes.push(node);
    const isRaw = RAW.has(element.name);
    const isPlace = PLACES.has(element.name);
    const outside = this.#moved;
    if (isPlace) this.#moved = [];
    const parts = nodes.map((node) => {
      if (node.kind === 1) return this.#outer(node);
      return isRaw ? node.data : escaped(node.data);
    });
    const isMoved = !FIXED.has(element.name) && nodes.length > 1 && this.#does("reorder", kindOf(element), 0.15);
    if (isMoved) parts.reverse();
    if (isPlace) {
      parts.push(...this.#moved);
      this.#moved = outside;
    }
    return parts.join("");
  }

  #outer(element: Element): string {
    const kind = kindOf(element);
    const name = this.#does("change_tags", kind, 0.6) ? (OTHER_TAGS[element.name] ?? element.name) : element.name;
    if (VOID.has(element.name)) return `<${element.name}${this.#attributes(element)}>`;
    let inner = this.#inner(element);
    if (element.name === "tr" && this.#does("columns", kindOf(element.parent ?? element), 0.5))
      inner = `<td>${this.#word(kind)}</td>${inner}`;
    if (FIXED.has(element.name)) {
      if ((element.name === "td" || element.name === "th") && this.#does("wrap", kind, 0.3))
        inner = `<div class="${this.#word(kind)}">${inner}</div>`;
      return `<${element.name}${this.#attributes(element)}>${inner}</${element.name}>`;
    }
    if ((element.name === "div" || element.name === "span") && this.#does("unwrap", kind, 0.25)) return inner;
    const own = `<${name}${this.#attributes(element)}>${inner}</${name}>`;
    const wrapped =
      !RAW.has(element.name) && this.#does("wrap", kind, 0.3) ? `<div class="${this.#word(kind)}">${own}</div>` : own;
    if (isBlockLike(element) && this.#does("insert", kind, 0.1))
      return `<div class="${this.#word(`new ${kind}`)}">Read more about it</div>${wrapped}`;
    if (!isBlockLike(element) || !this.#does("move", kind, 0.1)) return wrapped;
    this.#moved.push(wrapped);
    return "";
  }

  #attributes(element: Element): string {
    const list = element.attributes;
    let text = "";
    for (let index = 0; index < list.length; index += 2) {
      const [name, value] = [list[index]!, list[index + 1]!];
      if (name === "id" && this.#does("remove_ids", value, 0.8)) continue;
      const shown =
        name === "class"
          ? value
              .split(/\s+/)
              .map((one) => this.#className(one))
              .join(" ")
          : value;
      text += ` ${name}="${escaped(shown).replaceAll('"', "&quot;")}"`;
    }
    return text;
  }

  #className(name: string): string {
    return name !== "" && this.#does("rename_classes", name, 0.85) ? this.#word(name) : name;
  }

  /** As generators of style sheets name classes. */
  #word(kind: string): string {
    return `css-${hash("md5", `${this.#seed} ${kind}`, "hex").slice(0, 6)}`;
  }
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const isBlockLike = ({ name }: Element) => ["div", "h1", "h2", "h3", "p", "ul", "dl"].includes(name);

function kindOf(element: Element): string {
  return `${element.name} ${element.attr("id") ?? ""} ${element.attr("class") ?? ""}`;
}
