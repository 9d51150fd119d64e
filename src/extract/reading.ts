/** All that is worked out from the text of one page, in one go and in one thread. */
import { outlineOf } from "../domain/page/page-outline.ts";
import { type PageShell, shellOf } from "../domain/page/page-shell.ts";
import { type SoftBlock, softBlockOf } from "../domain/page/soft-block.ts";
import { readRobotsDirectives } from "../domain/site/robots-directives.ts";
import type { LeftLink } from "../domain/crawl/crawl-skips.ts";
import type { FollowLink, FollowOrder, LinkFinders } from "./follow.ts";
import { type Extraction, extract, type PageInput, parsePage } from "./page.ts";
import type { Plan } from "./plan.ts";

/** What came with the page, for telling a real one from a challenge or an empty shell. */
export interface Judge {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  url: string;
  /** A page that is empty without scripts is as good as none. */
  shells: boolean;
}

/** What is wanted of a page besides what the plan says. */
export interface ReadRequest {
  judge: Judge | null;
  follow: FollowOrder | null;
}

export interface PageReading {
  extraction: Extraction;
  /** The page that a site shows instead of what was asked for; null without `judge`, or when it is a real one. */
  softBlock: SoftBlock | null;
  /** The page is put together by scripts and says next to nothing without them; null as above, or without `shells`. */
  shell: PageShell | null;
  /** The links that a crawl follows; none without `follow`, and none of a page that is not what was asked for. */
  follow: FollowLink[];
  /** Links that the crawl skips, each reported once. */
  left: LeftLink[];
}

export function readPage(input: PageInput, plan: Plan, request: ReadRequest, finders: LinkFinders): PageReading {
  const page = parsePage(input);
  const extraction = extract(page, plan);
  const { judge, follow } = request;
  const walls = judge === null ? NO_WALLS : wallsOf(page.text, input.contentType, judge);
  const reading: PageReading = { extraction, ...walls, follow: [], left: [] };
  if (follow !== null && isGood(reading, judge))
    reading.follow = finders.of(follow).find(page.facts, follow, reading.left);
  return reading;
}

const NO_WALLS = { softBlock: null, shell: null };

function wallsOf(html: string, contentType: string | null, judge: Judge): Pick<PageReading, "softBlock" | "shell"> {
  const outline = outlineOf(html);
  const softBlock = softBlockOf({ ...judge, html }, outline);
  // A challenge is mostly script and would pass for a shell.
  if (softBlock !== null || !judge.shells) return { softBlock, shell: null };
  return { softBlock, shell: shellOf({ html, contentType, status: judge.status }, outline) };
}

/** A page without the records that were expected still is a page, such as the list that leads to them. */
function isGood({ softBlock, shell }: PageReading, judge: Judge | null): boolean {
  if (softBlock !== null || shell !== null) return false;
  return judge === null || (judge.status < 400 && !readRobotsDirectives(judge.headers["x-robots-tag"] ?? "").nofollow);
}
