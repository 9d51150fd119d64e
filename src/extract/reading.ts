/** Everything that is derived from one page, in one pass in a reader thread. */
import { outlineOf } from "../domain/page/page-outline.ts";
import { type PageShell, shellOf } from "../domain/page/page-shell.ts";
import { type SoftBlock, softBlockOf } from "../domain/page/soft-block.ts";
import { readRobotsDirectives } from "../domain/site/robots-directives.ts";
import type { PageClue } from "../domain/crawl/goal-score.ts";
import type { LeftLink } from "../domain/crawl/crawl-skips.ts";
import type { FollowLink, FollowOrder, LinkFinders } from "./follow.ts";
import { readGoal } from "./goal.ts";
import { type Extraction, extract, type PageInput, parsePage } from "./page.ts";
import type { Plan } from "./plan.ts";

/** Response data for detecting challenges and empty shells. */
export interface Judge {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  url: string;
  /** Also detect pages that are empty without scripts. */
  shells: boolean;
}

/** Requested results besides the plan. */
export interface ReadRequest {
  judge: Judge | null;
  follow: FollowOrder | null;
}

export interface PageReading {
  extraction: Extraction;
  /** The page is a challenge or a block; null without `judge`, or for a real page. */
  softBlock: SoftBlock | null;
  /** The page is rendered by scripts and nearly empty without them; null as above, or without `shells`. */
  shell: PageShell | null;
  /** Links for the crawl; empty without `follow`, and for challenges and shells. */
  follow: FollowLink[];
  /** Links that the crawl skips, each reported once. */
  left: LeftLink[];
  /** Where the words of the crawl's goal are; absent for a crawl without one. */
  goal?: PageClue;
}

export function readPage(input: PageInput, plan: Plan, request: ReadRequest, finders: LinkFinders): PageReading {
  const page = parsePage(input);
  const extraction = extract(page, plan);
  const { judge, follow } = request;
  const blocks = judge === null ? NO_BLOCKS : blocksOf(page.text, input.contentType, judge);
  const reading: PageReading = { extraction, ...blocks, follow: [], left: [] };
  if (follow !== null && isGood(reading, judge)) {
    const goal = follow.goal === undefined ? undefined : readGoal(page.facts, follow.goal);
    reading.follow = finders.of(follow).find(page.facts, follow, reading.left, goal);
    if (goal !== undefined) reading.goal = goal.page;
  }
  return reading;
}

const NO_BLOCKS = { softBlock: null, shell: null };

function blocksOf(html: string, contentType: string | null, judge: Judge): Pick<PageReading, "softBlock" | "shell"> {
  const outline = outlineOf(html);
  const softBlock = softBlockOf({ ...judge, html }, outline);
  // A challenge is mostly script and would look like a shell.
  if (softBlock !== null || !judge.shells) return { softBlock, shell: null };
  return { softBlock, shell: shellOf({ html, contentType, status: judge.status }, outline) };
}

/** A page without the expected records is still good, such as a list page that links to them. */
function isGood({ softBlock, shell }: PageReading, judge: Judge | null): boolean {
  if (softBlock !== null || shell !== null) return false;
  return judge === null || (judge.status < 400 && !readRobotsDirectives(judge.headers["x-robots-tag"] ?? "").nofollow);
}
