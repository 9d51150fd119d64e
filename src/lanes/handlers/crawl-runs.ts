import { type CrawlOptions, type CrawlSnapshot, pageRecipeOf } from "../../domain/crawl-options.ts";
import { type CrawlScope, compileScope, type ScopeOptions } from "../../domain/crawl-scope.ts";
import { Recent } from "../../domain/recent.ts";
import type { Recipe } from "../../domain/recipe.ts";
import type { PlanSpec } from "../../extract/plan.ts";
import type { Store } from "../../store/port.ts";

/** What is the same for all pages of a crawl, worked out once. */
export interface CrawlRun {
  options: CrawlOptions;
  recipe: Recipe;
  scope: CrawlScope;
  /** The scope's options as JSON, for the threads that look at links. */
  scopeText: string;
  spec: PlanSpec;
  /** Keys that were handed on already. */
  seen: RecentKeys;
  /** What pages gave: a page that gives something new is no part of a trap. */
  given: RecentKeys;
}

/** What a reader wants to know of an article besides its text. */
const ABOUT_ARTICLE = ["title", "author", "published_at"];

const MOST_RUNS = 100;

/** The crawls that this process works on, the newest few. */
export class CrawlRuns {
  readonly #store: Store;
  readonly #runs = new Map<string, Promise<CrawlRun>>();

  constructor(store: Store) {
    this.#store = store;
  }

  of(runId: string): Promise<CrawlRun> {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      if (this.#runs.size >= MOST_RUNS) this.#runs.delete(this.#runs.keys().next().value!);
      run = this.#read(runId);
      this.#runs.set(runId, run);
      run.catch(() => this.#runs.delete(runId));
    }
    return run;
  }

  async #read(runId: string): Promise<CrawlRun> {
    const record = await this.#store.run(runId);
    if (record === null) throw new Error("the run is gone");
    const { options } = record.snapshot as CrawlSnapshot;
    const { urls: url, max_depth, include, exclude, same_site } = options;
    const asked: ScopeOptions = { url, max_depth, include, exclude, same_site };
    const { ok, errors } = compileScope(asked);
    if (ok === undefined)
      throw new Error(`the crawl cannot be read: ${errors.map(({ message }) => message).join("; ")}`);
    return {
      options,
      recipe: pageRecipeOf(options),
      scope: ok,
      scopeText: JSON.stringify(asked),
      spec: specOf(options),
      seen: new RecentKeys(),
      given: new RecentKeys(),
    };
  }
}

function specOf({ fields, items, schema, article }: CrawlOptions): PlanSpec {
  const wantsArticle = article ?? fields === null;
  const spec: PlanSpec = { fields: fields ?? ABOUT_ARTICLE, links: wantsArticle, article: wantsArticle };
  if (items !== null) spec.items = items;
  if (schema !== null) spec.schema = schema;
  return spec;
}

const MOST_KEYS = 50_000;

/**
 * Which page was the first to lead to a key. A page whose outcome was not written is done again, and must hand on its
 * links again: that is why it matters who was the first.
 */
export class RecentKeys {
  readonly #pages = new Recent<number>(MOST_KEYS);

  forget(key: string): void {
    this.#pages.delete(key);
  }

  /** Whether another page has led here before. */
  wasFoundBefore(key: string, page: number): boolean {
    const first = this.#pages.get(key);
    if (first === undefined) this.#pages.set(key, page);
    return first !== undefined && first !== page;
  }
}
