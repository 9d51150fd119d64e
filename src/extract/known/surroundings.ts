/** Detects content around the page's subject: comments, teasers, side columns. */
import { isHidden } from "../article/visible.ts";
import type { Element } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { layoutNames } from "../main-content/marks.ts";

const TAGS: ReadonlySet<string> = new Set(["nav", "aside", "form", "menu", "template", "noscript"]);
const NAMES =
  /(?:^|[\s_-])(?:comments?|comment-?list|respond|repl(?:y|ies)|related|recommend\w*|teasers?|carousel|slider|swiper|slick|sidebar|promos?|newsletter|popular|trending|read-?next|more-?from|up-?next|most-?read|testimonials?|reviews?|cart|minicart|upsells?|cross-?sells?|recently-?viewed|also-?(?:bought|like)|menu|navbar|breadcrumbs?|cookies?|footer|advert\w*|ads?|sponsor\w*|subscri\w+|paywall|modal|popup|dialog)(?:[\s_-]|\d|$)/i;
const MAX_STEPS = 600;

const instances = new WeakMap<PageFacts, Surroundings>();

export class Surroundings {
  readonly #facts: PageFacts;
  readonly #cache = new Map<Element, boolean>();
  /** The main content and its ancestors. */
  readonly #lineage: ReadonlySet<Element>;
  readonly #articles: number;

  static of(facts: PageFacts): Surroundings {
    let found = instances.get(facts);
    if (found === undefined) instances.set(facts, (found = new Surroundings(facts)));
    return found;
  }

  private constructor(facts: PageFacts) {
    this.#facts = facts;
    this.#lineage = lineageOf(facts.mainContent?.root ?? null);
    this.#articles = facts.document.source.match(/<article[\s>]/gi)?.length ?? 0;
  }

  /** Whether an element is, or is inside, such content. */
  hold(element: Element): boolean {
    const path: Element[] = [];
    let answer = false;
    for (let up: Element | null = element; up !== null && path.length < MAX_STEPS; up = up.parent) {
      const cached = this.#cache.get(up);
      if (cached !== undefined) {
        answer = cached;
        break;
      }
      path.push(up);
      if (this.#isSurrounding(up)) {
        answer = true;
        break;
      }
    }
    for (const visited of path) this.#cache.set(visited, answer);
    return answer;
  }

  #isSurrounding(element: Element): boolean {
    const { name } = element.tag;
    if (name === "main" || this.#lineage.has(element)) return false;
    if (TAGS.has(name) || isHidden(element)) return true;
    if (name === "footer") return !this.#isInMain(element);
    // Of several articles, those outside the main content are teasers or comments.
    if (name === "article" && this.#articles > 1) return true;
    if (/(?:Review|Comments?|Answer)$/.test(element.attr("itemtype") ?? "")) return true;
    const names = layoutNames(element);
    return names !== "" && NAMES.test(names);
  }

  #isInMain(element: Element): boolean {
    const main = this.#facts.mainContent?.root ?? null;
    for (let up = element.parent; up !== null; up = up.parent) if (up === main) return true;
    return false;
  }
}

function lineageOf(main: Element | null): Set<Element> {
  const lineage = new Set<Element>();
  for (let up = main; up !== null; up = up.parent) lineage.add(up);
  return lineage;
}
