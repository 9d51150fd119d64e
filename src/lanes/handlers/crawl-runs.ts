import { type CrawlOptions, type CrawlSnapshot, pageRecipeOf } from "../../domain/crawl-options.ts";
import { type CrawlScope, compileScope } from "../../domain/crawl-scope.ts";
import type { Recipe } from "../../domain/recipe.ts";
import type { PlanSpec } from "../../extract/plan.ts";
import type { Store } from "../../store/port.ts";

/** What is the same for all pages of a crawl, worked out once. */
export interface CrawlRun {
  options: CrawlOptions;
  recipe: Recipe;
  scope: CrawlScope;
  spec: PlanSpec;
  /** Keys that were handed on already: most links of a site are on every page, and need not be asked about again. */
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
    const { ok, errors } = compileScope({ ...options, url: options.urls });
    if (ok === undefined)
      throw new Error(`the crawl cannot be read: ${errors.map(({ message }) => message).join("; ")}`);
    return {
      options,
      recipe: pageRecipeOf(options),
      scope: ok,
      spec: specOf(options),
      seen: new RecentKeys(),
      given: new RecentKeys(),
    };
  }
}

function specOf({ fields, items, schema, article }: CrawlOptions): PlanSpec {
  const spec: PlanSpec = { fields: fields ?? ABOUT_ARTICLE, links: true, article: article ?? fields === null };
  if (items !== null) spec.items = items;
  if (schema !== null) spec.schema = schema;
  return spec;
}

const MOST_KEYS = 50_000;

/**
 * Which page was the first to lead to a key; forgets the older half when it is full. A page whose outcome was not
 * written is done again, and must hand on its links again: that is why it matters who was the first.
 */
export class RecentKeys {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  forget(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Whether another page has led here before. */
  wasFoundBefore(key: string, page: number): boolean {
    const first = this.#young.get(key) ?? this.#old.get(key);
    if (first !== undefined) return first !== page;
    if (this.#young.size >= MOST_KEYS / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, page);
    return false;
  }
}
