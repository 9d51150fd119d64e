/** What a crawl with a goal knows in this process, and the scores that follow from it. */
import type { Clock } from "../../../base/clock.ts";
import type { CrawlOptions } from "../../../domain/crawl/crawl-options.ts";
import {
  areaOf,
  type FromPage,
  type GoalFacts,
  type GoalPage,
  LEADS,
  type LinkClue,
  linkScore,
  NO_GOAL_PAGES,
  type PageClue,
  relevanceOf,
  scoreOfPriority,
  textScore,
  voteOf,
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

interface ScoredLink {
  link: FollowLink;
  score: number;
}

/** Other processes read pages of the crawl as well. */
const REFRESH_MS = 5000;
const MAX_SCORES = 50_000;
/** A known page gets a new score if it is better by this much: most links are on every page. */
const RAISE_BY = 0.05;
/** Links in content that add to a page's score; a list on every page must not raise it without end. */
const MAX_VOTES = 4;
/** Starts have no score: the user chose them. */
const START_SCORE = 1;

export class CrawlGoal {
  readonly text: string;
  readonly #deps: { store: Store; clock: Clock };
  readonly #runId: string;
  readonly #stops: boolean;
  readonly #finder: TermFinder;
  /** The best score of each page that was reported to the store. */
  readonly #scores = new Recent<{ score: number; votes: number }>(MAX_SCORES);
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
    const gain = { words: clue.words, terms, relevance, lead: 0, area: areaOf(url), stops: this.#stops };
    return { relevance, score: scoreOfTask(task), gain };
  }

  /** The page is in the store. */
  written(page: GoalPage): void {
    this.#facts = withGoalPage(this.#facts, page);
  }

  /** Of a list of pages, such as a sitemap, only the address is known. */
  scoreOfListed(url: string): number {
    const text = textScore(this.#clueOf(url), this.#facts, this.#finder.terms.length);
    return linkScore(text, { url, isAside: false }, null, this.#facts);
  }

  /** The links of a page; `isKnown`: the store has the page. What the links say about their page is added to its gain. */
  score(
    links: readonly FollowLink[],
    page: GoalRead | null,
    task: ClaimedTask,
    isKnown: (key: string) => boolean,
  ): ScoredLink[] {
    const texts = links.map(({ url, clue }) =>
      textScore(clue ?? this.#clueOf(url), this.#facts, this.#finder.terms.length),
    );
    const leads = links.filter(({ key, clue }, index) => {
      return texts[index]! >= LEADS.score && clue?.isAside === false && !isKnown(key);
    });
    const lead = Math.min(1, leads.length / LEADS.links);
    if (page !== null) page.gain.lead = lead;
    const from = { relevance: page?.relevance ?? 0, lead, score: scoreOfTask(task) };
    const scored = links.map((link, index) => {
      const isAside = link.clue?.isAside ?? false;
      const score = linkScore(texts[index]!, { url: link.url, isAside }, from, this.#facts);
      return { link, score: isAside ? score : this.#withVotes(link.key, score, from) };
    });
    // Long lists are added in parts, and the first pages start before the last part.
    return scored.toSorted((a, b) => b.score - a.score);
  }

  /** A page that several relevant ones link to is more promising than each of the links. */
  #withVotes(key: string, score: number, from: FromPage): number {
    const before = this.#scores.get(key);
    if (before === undefined || before.votes >= MAX_VOTES) return score;
    const vote = voteOf(from, this.#facts);
    before.votes += vote > 0 ? 1 : 0;
    return Math.max(score, 1 - (1 - before.score) * (1 - vote));
  }

  #clueOf(url: string): LinkClue {
    return { anchor: [], around: [], url: this.#finder.inUrl(url), isAside: false };
  }

  /** Whether the store should know this score of a page that it has; then it counts as known. */
  raises(key: string, score: number): boolean {
    if (score < (this.#scores.get(key)?.score ?? 0) + RAISE_BY) return false;
    this.report(key, score);
    return true;
  }

  /** The page is reported to the store with this score. */
  report(key: string, score: number): void {
    const { score: before = 0, votes = 1 } = this.#scores.get(key) ?? {};
    this.#scores.set(key, { score: Math.max(score, before), votes });
  }
}

function scoreOfTask({ priority }: Pick<ClaimedTask, "priority">): number {
  return scoreOfPriority(priority) ?? START_SCORE;
}
