/** The parts of a page: which lines an element holds, and by which name it is found again. */
import { hash } from "node:crypto";
import type { RegionTree } from "./content.ts";

const MAX_KEY = 240;
/** Its children are the page. */
const IS_WHOLE = /^(?:html|body|main|article)\b/;
/** Not members of a list, though there may be many of them. */
const IS_PROSE = /^(?:p|h[1-6]|br|pre|hr)$/;

export class Regions {
  readonly #tree: RegionTree;
  /** Per line: its node, or -1. */
  readonly #of: readonly number[];
  readonly #names: string[] = [];
  readonly #keys: string[] = [];
  readonly #kinds: string[] = [];
  readonly #lines: number[][] = [];
  readonly #children: number[][] = [];
  readonly #depth: number[] = [];
  /** Null: several elements have this name. */
  readonly #byKey = new Map<string, number | null>();

  constructor(tree: RegionTree, of: readonly number[]) {
    this.#tree = tree;
    this.#of = of;
    for (const [parent, name, label] of tree.nodes) {
      const above = parent < 0 || /^(?:html|body)\b/.test(tree.nodes[parent]![1]) ? null : parent;
      const own = label === "" ? name : `${name} “${label}”`;
      this.#names.push(cut(above === null ? own : `${this.#names[above]!} > ${own}`));
      this.#keys.push(digest(this.#names.at(-1)!));
      this.#kinds.push(cut(above === null ? name : `${this.#kinds[above]!} > ${name}`));
      this.#lines.push([]);
      this.#children.push([]);
      this.#depth.push(parent < 0 ? 0 : this.#depth[parent]! + 1);
    }
    for (const [line, node] of of.entries())
      for (let up = node; up >= 0; up = this.parentOf(up)) this.#lines[up]!.push(line);
    for (const [node, lines] of this.#lines.entries()) {
      if (lines.length === 0) continue;
      const parent = this.parentOf(node);
      if (parent >= 0) this.#children[parent]!.push(node);
      const key = this.#keys[node]!;
      this.#byKey.set(key, this.#byKey.has(key) ? null : node);
    }
  }

  parentOf(node: number): number {
    return this.#tree.nodes[node]![0];
  }
  nodeOf(line: number): number {
    return this.#of[line] ?? -1;
  }
  /** As shown: it contains words of the page. */
  nameOf(node: number): string {
    return this.#names[node]!;
  }
  /** As stored. */
  keyOf(node: number): string {
    return this.#keys[node]!;
  }
  /** Equal for lines in elements of the same kind. */
  kindOf(line: number): string {
    return this.#kinds[this.nodeOf(line)] ?? "";
  }
  linesOf(node: number): readonly number[] {
    return this.#lines[node]!;
  }
  /** Null: there is none, or there are several. */
  find(key: string): number | null {
    return this.#byKey.get(key) ?? null;
  }
  isWhole(node: number): boolean {
    return IS_WHOLE.test(this.#tree.nodes[node]![1]);
  }
  /** Without an id, a class or a heading, an element of that name may be anything on another page. */
  isMarked(node: number): boolean {
    return /[#.“]/.test(this.#names[node]!);
  }

  /** The innermost element that holds all these lines; -1: none does. */
  around(lines: readonly number[]): number {
    let found = -2;
    for (const line of lines) {
      const node = this.nodeOf(line);
      found = found === -2 ? node : this.#common(found, node);
      if (found < 0) return -1;
    }
    return found === -2 ? -1 : found;
  }

  #common(one: number, other: number): number {
    let [a, b] = [one, other];
    while (a >= 0 && b >= 0 && a !== b) {
      if (this.#depth[a]! >= this.#depth[b]!) a = this.parentOf(a);
      else b = this.parentOf(b);
    }
    return a === b ? a : -1;
  }

  /** The name that most children have, if the element is a list of them; null: it is none. */
  itemOf(node: number): string | null {
    const children = this.#children[node]!;
    const counts = new Map<string, number>();
    for (const child of children) {
      const [, name] = this.#tree.nodes[child]!;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const [name = "", count = 0] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [];
    return count >= 2 && count >= children.length * 0.6 && !IS_PROSE.test(name) ? name : null;
  }

  /** Whether the element is one of these, or within. */
  isWithin(node: number, nodes: ReadonlySet<number>): boolean {
    for (let up = node; up >= 0; up = this.parentOf(up)) if (nodes.has(up)) return true;
    return false;
  }

  /** The lines of each member of a list. */
  members(node: number, item: string): readonly number[][] {
    const items = this.#children[node]!.filter((child) => this.#tree.nodes[child]![1] === item);
    return items.map((child) => this.#lines[child]!);
  }
}

const digest = (text: string) => hash("sha256", text, "base64url").slice(0, 12);

function cut(key: string): string {
  if (key.length <= MAX_KEY) return key;
  return `… ${hash("sha256", key, "base64url").slice(0, 8)} ${key.slice(-MAX_KEY / 2)}`;
}

/** Of two prepared texts without markup. */
export const NO_REGIONS = new Regions({ nodes: [], lines: [] }, []);
