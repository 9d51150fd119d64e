/** Adapts tree nodes to the W3C DOM interface that the XPath library expects. */
import type { Document, Element, Node, TextNode } from "../dom/nodes.ts";
import { following } from "../dom/nodes.ts";
import { budget } from "./budget.ts";

export type View = NodeView | AttributeView;

/** Assigns document positions, by which the library sorts. Built on the first XPath rule of a page. */
class PageView {
  readonly #views = new Map<Node, NodeView>();
  readonly root: Element;

  constructor(document: Document) {
    this.root = document.root;
    let order = 0;
    let node: Node | null = document.root;
    while (node !== null) {
      this.#views.set(node, new NodeView(this, node, order));
      // Leaves room for attributes, which sort between their element and its children.
      order += 1024;
      node = (node.kind === 1 ? node.first : null) ?? following(node, document.root);
    }
  }

  view(node: Node | null): NodeView | null {
    // A step of the library costs as much as several selector steps.
    budget.spend(4);
    return node === null ? null : (this.#views.get(node) ?? null);
  }
}

const pages = new WeakMap<Document, PageView>();

export function viewOf(element: Element): NodeView {
  let page = pages.get(element.document);
  if (page === undefined) {
    page = new PageView(element.document);
    pages.set(element.document, page);
  }
  return page.view(element) as NodeView;
}

abstract class Ordered {
  abstract readonly order: number;

  compareDocumentPosition(other: Ordered): number {
    budget.spend(4);
    return other.order < this.order ? 2 : 4;
  }
}

export class NodeView extends Ordered {
  readonly node: Node;
  readonly order: number;
  readonly nodeType: number;
  readonly nodeName: string;
  readonly localName: string;
  readonly namespaceURI: string;
  readonly #page: PageView;
  #attributes: { length: number; item(index: number): AttributeView | undefined } | null = null;

  constructor(page: PageView, node: Node, order: number) {
    super();
    this.#page = page;
    this.node = node;
    this.order = order;
    const name = node.kind === 3 ? "#text" : node.tag.name;
    this.nodeType = node.kind === 3 ? 3 : node.parent === null ? 9 : 1;
    this.nodeName = name;
    const colon = node.kind === 1 && node.document.xml ? name.indexOf(":") : -1;
    this.localName = colon < 0 ? name : name.slice(colon + 1);
    // Prefixed names such as `media:content` match as written, regardless of the namespace URI.
    this.namespaceURI = colon < 0 ? "" : name.slice(0, colon);
  }

  get parentNode(): NodeView | null {
    return this.#page.view(this.node.parent);
  }
  get firstChild(): NodeView | null {
    return this.node.kind === 1 ? this.#page.view(this.node.first) : null;
  }
  get nextSibling(): NodeView | null {
    return this.#page.view(this.node.next);
  }
  get previousSibling(): NodeView | null {
    return this.#page.view(this.node.prev);
  }
  get ownerDocument(): NodeView | null {
    return this.#page.view(this.#page.root);
  }
  get data(): string {
    return this.nodeValue;
  }
  get nodeValue(): string {
    const text = this.node.kind === 3 ? (this.node as TextNode).data : "";
    budget.spend(text.length >> 4);
    return text;
  }
  get attributes() {
    if (this.#attributes === null) {
      const list = this.node.kind === 1 ? this.node.attributes : [];
      const views: AttributeView[] = [];
      for (let index = 0; index < list.length; index += 2) {
        views.push(new AttributeView(this, list[index] as string, list[index + 1] as string, views.length));
      }
      budget.spend(views.length);
      this.#attributes = Object.assign(views, { item: (index: number) => views[index] });
    }
    return this.#attributes;
  }
}

export class AttributeView extends Ordered {
  readonly nodeType = 2;
  readonly ownerElement: NodeView;
  readonly order: number;
  readonly nodeName: string;
  readonly localName: string;
  readonly name: string;
  readonly value: string;
  readonly nodeValue: string;
  readonly namespaceURI = "";
  readonly specified = true;

  constructor(owner: NodeView, name: string, value: string, index: number) {
    super();
    this.ownerElement = owner;
    this.order = owner.order + 1 + Math.min(index, 1000);
    this.nodeName = name;
    this.localName = name;
    this.name = name;
    this.value = value;
    this.nodeValue = value;
  }

  get ownerDocument(): NodeView | null {
    return this.ownerElement.ownerDocument;
  }
}
