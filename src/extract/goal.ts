/** Where the words of a crawl's goal are on a page: in its content, and near each of its links. */
import type { LinkClue, PageClue } from "../domain/crawl/goal-score.ts";
import { goalTerms, TermFinder } from "../domain/crawl/goal-terms.ts";
import type { Element } from "./dom/nodes.ts";
import { isBlock } from "./dom/text.ts";
import type { PageFacts } from "./facts/page-facts.ts";

export interface GoalView {
  page: PageClue;
  /** Without the address, which the caller resolves. */
  clueOf(link: Element): Omit<LinkClue, "url">;
  finder: TermFinder;
}

const WEIGHTS = { title: 4, heading: 2, text: 1, link: 0.5 };
/** Words before and after a link that belong to it. */
const NEAR = 25;
/** Words that the border of a block counts as: what is near does not reach beyond the entry of a list. */
const GAPS: Readonly<Record<string, number>> = { li: 30, tr: 30, article: 30, section: 30, dt: 30 };
const GAP = 8;

const SILENT = new Set(["script", "style", "template", "noscript", "svg", "title"]);
const HEADING = /^h[1-6]$/;
const ASIDE_TAGS = new Set(["nav", "footer", "aside", "menu"]);
const ASIDE_ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "menu", "menubar"]);
const ASIDE_NAME =
  /(?:^|[\s_-])(?:nav|navbar|navigation|menu|topbar|footer|sidebar|breadcrumbs?|related|promo|ads?|advert|banner|share|social)(?:$|[\s_-])/i;
/** Other pages of a list are as good as the list. */
const PAGING_NAME = /(?:^|[\s_-])(?:pag(?:er|ination|inator|ing)|next|load-more)(?:$|[\s_-])/i;

const finders = new Map<string, TermFinder>();
const MAX_FINDERS = 20;

function finderOf(goal: string): TermFinder {
  let finder = finders.get(goal);
  if (finder === undefined) {
    finder = new TermFinder(goalTerms(goal));
    if (finders.size >= MAX_FINDERS) finders.clear();
    finders.set(goal, finder);
  }
  return finder;
}

export function readGoal(facts: PageFacts, goal: string): GoalView {
  const finder = finderOf(goal);
  const walk = new Walk(finder);
  finder.scan(facts.title ?? "", (term) => walk.add(term, WEIGHTS.title));
  walk.visit(facts.document.root, { isAside: false, isHeading: false, isLink: false, isMain: false });
  return {
    page: { words: walk.words, counts: walk.counts },
    clueOf: (link) => walk.clueOf(link),
    finder,
  };
}

interface Region {
  isAside: boolean;
  isHeading: boolean;
  isLink: boolean;
  /** Within the main part: a header there is not that of the site. */
  isMain: boolean;
}

interface LinkAt {
  from: number;
  to: number;
  isAside: boolean;
  heading: readonly number[];
}

/** Reads the page once, in its order. */
class Walk {
  readonly counts: number[];
  words = 0;
  readonly #finder: TermFinder;
  /** Terms by their position on the page, in order. */
  readonly #hits: { at: number; term: number }[] = [];
  readonly #links = new Map<Element, LinkAt>();
  #at = 0;
  #heading: readonly number[] = [];

  constructor(finder: TermFinder) {
    this.#finder = finder;
    this.counts = finder.terms.map(() => 0);
  }

  add(term: number, weight: number): void {
    this.counts[term] = (this.counts[term] ?? 0) + weight;
  }

  visit(parent: Element, region: Region): void {
    for (let node = parent.first; node !== null; node = node.next) {
      if (node.kind === 3) this.#read(node.data, region);
      else if (!SILENT.has(node.tag.name)) this.#enter(node, region);
    }
  }

  #enter(element: Element, outer: Region): void {
    const { name } = element.tag;
    const region = regionOf(element, outer);
    const gap = isBlock(element) ? (GAPS[name] ?? GAP) : 0;
    this.#at += gap;
    const from = this.#at;
    const first = this.#hits.length;
    if (name === "img") this.#read(element.attr("alt") ?? "", region);
    this.visit(element, region);
    if (region.isLink && !outer.isLink) {
      this.#read(element.attr("title") ?? element.attr("aria-label") ?? "", { ...region, isAside: true });
      this.#links.set(element, { from, to: this.#at, isAside: region.isAside, heading: this.#heading });
    }
    if (region.isHeading && !outer.isHeading) this.#heading = this.#hits.slice(first).map(({ term }) => term);
    this.#at += gap;
  }

  #read(text: string, { isAside, isHeading, isLink }: Region): void {
    const weight = isHeading ? WEIGHTS.heading : isLink ? WEIGHTS.link : WEIGHTS.text;
    const count = this.#finder.scan(text, (term, word) => {
      this.#hits.push({ at: this.#at + word, term });
      if (!isAside) this.add(term, weight);
    });
    this.#at += count;
    if (!isAside) this.words += count;
  }

  clueOf(link: Element): Omit<LinkClue, "url"> {
    const at = this.#links.get(link);
    if (at === undefined) return { anchor: [], around: [], isAside: false };
    const anchor = new Set<number>();
    const around = new Set<number>(at.isAside ? [] : at.heading);
    for (let index = this.#firstFrom(at.from - NEAR); index < this.#hits.length; index += 1) {
      const { at: position, term } = this.#hits[index]!;
      if (position >= at.to + NEAR) break;
      (position >= at.from && position < at.to ? anchor : around).add(term);
    }
    return { anchor: [...anchor], around: [...around], isAside: at.isAside };
  }

  /** The first hit at a position or behind it. */
  #firstFrom(position: number): number {
    let [low, high] = [0, this.#hits.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#hits[middle]!.at < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function regionOf(element: Element, outer: Region): Region {
  const { name } = element.tag;
  const isMain = outer.isMain || name === "main" || name === "article";
  return {
    isMain,
    isAside: isAside(element, outer),
    isHeading: outer.isHeading || HEADING.test(name),
    isLink: outer.isLink || name === "a" || name === "area",
  };
}

function isAside(element: Element, outer: Region): boolean {
  const { name } = element.tag;
  const role = element.attr("role");
  if (name === "main" || role === "main") return false;
  const names = `${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`;
  if (names !== " " && PAGING_NAME.test(names)) return false;
  if (outer.isAside || ASIDE_TAGS.has(name) || (role !== undefined && ASIDE_ROLES.has(role))) return true;
  if (name === "header") return !outer.isMain;
  // The whole page may be named after its sidebar.
  return names !== " " && name !== "body" && name !== "html" && ASIDE_NAME.test(names);
}
