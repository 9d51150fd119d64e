/**
 * Scores for a crawl with a goal: how relevant a page is, and how promising a link. BM25 over the pages that the crawl has
 * read so far: a word that every page has says little. Pure and deterministic.
 */

/** Where the words of the goal occur on a page. */
export interface PageClue {
  /** Words of the page's content. */
  words: number;
  /** Per term: how often it occurs; in the title and in headings it counts more. */
  counts: number[];
}

/** The terms near a link, as positions in the list of the goal's terms. */
export interface LinkClue {
  anchor: number[];
  url: number[];
  /** In the text around it, and in the heading above it. */
  around: number[];
  /** In navigation, footer or sidebar. */
  isAside: boolean;
}

/** What one page adds to what the crawl knows; written with the page's outcome. */
export interface GoalPage {
  words: number;
  /** The terms that it has. */
  terms: number[];
  /** From 0 to 1. */
  relevance: number;
  /** How much it helps to find relevant pages, from 0 to 1: a list may have no word of the goal but in its links. */
  lead: number;
  /** The folder of its URL. */
  area: string;
  /** The crawl ends when it is saturated. */
  stops: boolean;
}

/** What a crawl knows about its goal; kept with the run. */
export interface GoalFacts {
  /** Pages read, and words on them. */
  pages: number;
  words: number;
  /** Per term: pages that have it. */
  with: number[];
  /** The highest relevance so far. */
  best: number;
  /** Pages at least half as relevant as the best one then. */
  relevant: number;
  /** The last pages, oldest first: 1 for a relevant one. */
  recent?: string;
  /** Per folder: pages read, and the sum of what they were worth, each from 0 to 1. */
  areas: Record<string, [pages: number, worth: number]>;
  /** New pages add little, and the crawl was to stop then. */
  saturated?: true;
}

export const NO_GOAL_PAGES: GoalFacts = {
  pages: 0,
  words: 0,
  with: [],
  best: 0,
  relevant: 0,
  areas: {},
};

/** The usual constants of BM25. */
const K1 = 1.2;
const B = 0.75;

/** Weights of terms, the rarer the higher. */
function weightsOf({ pages, with: having }: GoalFacts, terms: number): number[] {
  return Array.from({ length: terms }, (_, term) => {
    const count = Math.min(pages, having[term] ?? 0);
    return Math.log(1 + (pages - count + 0.5) / (count + 0.5));
  });
}

/** The sum over all terms that the crawl has seen: a word that occurs nowhere must not lower every score. */
function totalOf(weights: readonly number[], { with: having }: GoalFacts): number {
  const seen = weights.filter((_, term) => (having[term] ?? 0) > 0);
  return (seen.length === 0 ? weights : seen).reduce((sum, weight) => sum + weight, 0);
}

/** From 0 (has no word of the goal) to 1. */
export function relevanceOf({ words, counts }: PageClue, facts: GoalFacts): number {
  const weights = weightsOf(facts, counts.length);
  const total = totalOf(weights, withPage(facts, counts));
  if (total === 0) return 0;
  const mean = facts.pages === 0 ? words : facts.words / facts.pages;
  const length = 1 - B + B * (mean === 0 ? 1 : words / mean);
  const sum = counts.reduce((all, count, term) => all + ((weights[term] ?? 0) * count) / (count + K1 * length), 0);
  return rounded(Math.min(1, sum / total));
}

/** As if the page had been counted. */
function withPage(facts: GoalFacts, counts: readonly number[]): GoalFacts {
  return { ...facts, with: counts.map((count, term) => (facts.with[term] ?? 0) + (count > 0 ? 1 : 0)) };
}

const SHARE = { anchor: 0.8, url: 0.5, around: 0.4 };
/** The text of a link says more than the page it is on. */
const TEXT = 0.75;
/** Navigation leads everywhere, whatever page it is on. */
const ASIDE = { text: 0.35, page: 0.05 };
/** What a page inherits from the links that led to it. */
const DECAY = 0.5;
/** The most that the folder counts, and the pages until it counts half of that. */
const AREA = { most: 0.5, pages: 2 };

const VOTE = 0.3;

/** How much the words of a link say, from 0 to 1. */
export function textScore(clue: LinkClue, facts: GoalFacts, terms: number): number {
  const weights = weightsOf(facts, terms);
  const total = totalOf(weights, facts);
  const share = (list: readonly number[]) =>
    total === 0 ? 0 : Math.min(1, list.reduce((sum, term) => sum + (weights[term] ?? 0), 0) / total);
  const miss =
    (1 - SHARE.anchor * share(clue.anchor)) *
    (1 - SHARE.url * share(clue.url)) *
    (1 - SHARE.around * share(clue.around));
  return 1 - miss;
}

/** Links to new pages with at least this text score show the way, and so many of them as well as a relevant page. */
export const LEADS = { score: 0.5, links: 2 };

/** The page a link was found on. */
export interface FromPage {
  relevance: number;
  lead: number;
  /** How promising it seemed before it was read. */
  score: number;
}

/** How promising a link with this text score is, from 0 to 1. `from` is null for a list, such as a sitemap. */
export function linkScore(
  text: number,
  { url, isAside }: { url: string; isAside: boolean },
  from: FromPage | null,
  facts: GoalFacts,
): number {
  const page = from === null ? 0 : Math.max(worthOf(from, facts), DECAY * from.score);
  const near = isAside ? ASIDE.text * text + ASIDE.page * page : TEXT * text + (1 - TEXT) * page;
  const [pages, sum] = facts.areas[areaOf(url)] ?? [0, 0];
  if (pages === 0) return near;
  const trust = (AREA.most * pages) / (pages + AREA.pages);
  return (1 - trust) * near + trust * (sum / pages);
}

/** What one more page that has the link adds, from 0 to 1. */
export function voteOf(from: FromPage, facts: GoalFacts): number {
  const worth = worthOf({ ...from, lead: 0 }, facts);
  return worth < 0.25 ? 0 : VOTE * worth;
}

/** From 0 to 1, compared with the best page so far. Squared: a page with one word of the goal is not half as good. */
function worthOf({ relevance, lead }: Pick<GoalPage, "relevance" | "lead">, { best }: Pick<GoalFacts, "best">): number {
  return Math.max(lead, best === 0 ? 0 : Math.min(1, relevance / best) ** 2);
}

/** The host and the first folders of a URL: pages of one folder are often of one kind. */
export function areaOf(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "";
  const folders = url.pathname.split("/").slice(1, -1).slice(0, 2);
  return `${url.host}/${folders.join("/")}`.slice(0, MAX_AREA);
}

const MAX_AREA = 100;
/** They are rewritten with every batch of pages. */
const MAX_AREAS = 60;

/** Pages that decide whether the crawl is saturated, and how many of them may be relevant then. */
export const SATURATION = { pages: 50, relevant: 2 };

/** The facts with one more page. */
export function withGoalPage(before: GoalFacts, page: GoalPage): GoalFacts {
  const best = Math.max(before.best, page.relevance);
  const isRelevant = page.relevance > 0 && page.relevance >= best / 2;
  const recent = `${before.recent ?? ""}${isRelevant ? 1 : 0}`.slice(-SATURATION.pages);
  const having = [...before.with];
  for (const term of page.terms) having[term] = (having[term] ?? 0) + 1;
  const facts: GoalFacts = {
    ...before,
    pages: before.pages + 1,
    words: before.words + page.words,
    with: Array.from(having, (count) => count ?? 0),
    best,
    relevant: before.relevant + (isRelevant ? 1 : 0),
    recent,
    areas: withArea(before.areas, page.area, worthOf(page, { best })),
  };
  return page.stops && isSaturated(facts) ? { ...facts, saturated: true } : facts;
}

function withArea(areas: GoalFacts["areas"], area: string, worth: number): GoalFacts["areas"] {
  const [pages, sum] = areas[area] ?? [0, 0];
  if (pages === 0 && Object.keys(areas).length >= MAX_AREAS) return areas;
  return { ...areas, [area]: [pages + 1, rounded(sum + worth)] };
}

function isSaturated({ recent = "" }: GoalFacts): boolean {
  const relevant = [...recent].filter((flag) => flag === "1").length;
  return recent.length >= SATURATION.pages && relevant <= SATURATION.relevant;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Priorities of pages with a score are below all others: starts and lists come first. */
const LOWEST = -2_000_000;
const STEPS = 1_000_000;

export function priorityOfScore(score: number): number {
  return LOWEST + Math.round(Math.max(0, Math.min(1, score)) * STEPS);
}

/** Null: the task has no score. */
export function scoreOfPriority(priority: number): number | null {
  return priority < LOWEST || priority > LOWEST + STEPS ? null : (priority - LOWEST) / STEPS;
}
