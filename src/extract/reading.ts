/** All that is worked out from the text of one page, in one go and in one thread. */
import { outlineOf } from "../domain/page-outline.ts";
import { type PageShell, shellOf } from "../domain/page-shell.ts";
import { type SoftBlock, softBlockOf } from "../domain/soft-block.ts";
import { decodePage, type Extraction, extractText, type PageInput } from "./page.ts";
import type { Plan } from "./plan.ts";

/** What came with the page, for telling a real one from a challenge or an empty shell. */
export interface Judge {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  url: string;
}

export interface PageReading {
  extraction: Extraction;
  /** The page that a site shows instead of what was asked for; null without `judge`, or when it is a real one. */
  softBlock: SoftBlock | null;
  /** The page is put together by scripts and says next to nothing without them; null as above. */
  shell: PageShell | null;
}

export function readPage(input: PageInput, plan: Plan, judge: Judge | null): PageReading {
  const page = decodePage(input);
  const extraction = extractText(page, plan);
  if (judge === null) return { extraction, softBlock: null, shell: null };
  const html = page.text;
  const outline = outlineOf(html);
  const softBlock = softBlockOf({ ...judge, html }, outline);
  // A challenge is mostly script and would pass for a shell.
  const shell =
    softBlock === null ? shellOf({ html, contentType: page.contentType, status: judge.status }, outline) : null;
  return { extraction, softBlock, shell };
}
