/** What a crawl with a goal knows in this process, and the scores that follow from it. */
import type { Clock } from "../../../base/clock.ts";
import type { CrawlOptions } from "../../../domain/crawl/crawl-options.ts";
import {
  areaOf,
  type GoalFacts,
  type GoalPage,
  linkScore,
  NO_GOAL_PAGES,
  type PageClue,
  relevanceOf,
  scoreOfPriority,
  withGoalPage,
} from "../../../domain/crawl/goal-score.ts";
import { goalTerms, TermFinder } from "../../../domain/crawl/goal-terms.ts";
import { Recent } from "../../../domain/lane/recent.ts";
import type { FollowLink } from "../../../extract/follow.ts";
import type { ClaimedTask, RunRecord, Store } from "../../../store/ports/port.ts";

/** A page that was read: `gain` is written with its outcome. */
export interface GoalRead {
  relevance: number;
  /** How promising it seemed before it was read. */
  score: number;
  gain: GoalPage;
}

/** Other processes read pages of the crawl as well. */
const REFRESH_MS = 5000;
const MAX_SCORES = 50_000;
/** A known page gets a new score if it is better by this much: most links are on every page. */
const RAISE_BY = 0.05;
/** Starts have no score: the user chose them. */
const START_SCORE = 1;

export class CrawlGoal {
  readonly text: string;
  readonly #deps: { store: Store; clock: Clock };
  readonly #runId: string;
  readonly #stops: boolean;
  readonly #finder: TermFinder;
  /** The best score of each page that was reported to the store. */
  readonly #scores = new Recent<number>(MAX_SCORES);
  #facts: GoalFacts;
  #refreshAt: number;

  static of(deps: { store: Store; clock: Clock }, run: RunRecord, options: CrawlOptions): CrawlGoal | null {
    return options.goal === "" ? null : new CrawlGoal(deps, run, options);
  }

  private constructor(
    deps: { store: Store; clock: Clock },
    { id, facts }: RunRecord,
    { goal, stop_when_saturated: stops }: CrawlOptions,
  ) {
    this.text = goal;
    this.#deps = deps;
    this.#runId = id;
    this.#stops = stops;
    this.#finder = new TermFinder(goalTerms(goal));
    this.#facts = facts.goal ?? NO_GOAL_PAGES;
    this.#refreshAt = deps.clock.monotonic() + REFRESH_MS;
  }

  /** Learns from time to time what other processes have read. */
  async refresh(): Promise<void> {
    const { store, clock } = this.#deps;
    if (store.capabilities.singleEngine || clock.monotonic() < this.#refreshAt) return;
    this.#refreshAt = clock.monotonic() + REFRESH_MS;
    this.#facts = (await store.run(this.#runId))?.facts.goal ?? this.#facts;
  }

  read(task: ClaimedTask, clue: PageClue, url: string): GoalRead {
    const relevance = relevanceOf(clue, this.#facts);
    const terms = clue.counts.flatMap((count, term) => (count > 0 ? [term] : []));
    const gain = { words: clue.words, terms, relevance, area: areaOf(url), stops: this.#stops };
    return { relevance, score: scoreOfTask(task), gain };
  }

  /** The page is in the store. */
  written(page: GoalPage): void {
    this.#facts = withGoalPage(this.#facts, page);
  }

  /** `from` is the page that has the link; null: a list of pages. */
  scoreOf({ url, clue }: Pick<FollowLink, "url" | "clue">, from: Pick<GoalRead, "relevance" | "score"> | null): number {
    const known = clue ?? { anchor: [], around: [], url: this.#finder.inUrl(url), isAside: false };
    return linkScore(known, url, from, this.#facts, this.#finder.terms.length);
  }

  /** Whether the store should know this score of a page that it has; then it counts as known. */
  raises(key: string, score: number): boolean {
    if (score < (this.#scores.get(key) ?? 0) + RAISE_BY) return false;
    this.#scores.set(key, score);
    return true;
  }

  /** The page is reported to the store with this score. */
  report(key: string, score: number): void {
    this.#scores.set(key, Math.max(score, this.#scores.get(key) ?? 0));
  }
}

/** How promising a page seemed before it was read. */
export function scoreOfTask({ priority }: Pick<ClaimedTask, "priority">): number {
  return scoreOfPriority(priority) ?? START_SCORE;
}
