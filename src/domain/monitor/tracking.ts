/** How a page differs from the last time that it was read in the same way, with or without a job. */
import type { JsonValue } from "../lane/queue-item.ts";
import { prepareText } from "./prepared-text.ts";
import { NO_PROFILE } from "./volatile/profile.ts";
import { type DiffHunk, diffTexts } from "./text-diff.ts";

/** Part of a run's snapshot. */
export interface TrackingRequest {
  /** Equal for requests whose pages are comparable. */
  scope: string;
}

/** What is stored of a page, to be compared with. */
export interface TrackedContent {
  markdown: string;
  record: Record<string, JsonValue>;
}

/** In the first record of the page. */
export interface Tracking {
  [key: string]: JsonValue;
  previous_at: string | null;
  status: "new" | "same" | "changed";
  /** Only if it changed. */
  hunks: JsonValue;
  /** What the rules read before. */
  previous_record: Record<string, JsonValue> | null;
}

/** A page to keep for the next comparison; its file is stored already. */
export interface TrackedPage {
  key: string;
  url: string;
  hash: string;
  size: number;
  isSealed: boolean;
  /** The file that it replaces. */
  replaces: string | null;
}

/** Nothing is noise here: white space alone is no change. */
const RULES = { noise: new Set<never>(), ignore: [], isSet: false };

export function compareTracked(
  before: TrackedContent | null,
  now: TrackedContent,
  previousAt: string | null,
): Tracking {
  if (before === null) return { previous_at: null, status: "new", hunks: [], previous_record: null };
  const [old, recent] = [before, now].map(({ markdown }) => prepareText({ text: markdown, tree: null }, RULES, null));
  const { hunks, added, removed } = diffTexts(old!, recent!, NO_PROFILE);
  const isChanged = added + removed > 0;
  return {
    previous_at: previousAt,
    status: isChanged ? "changed" : "same",
    hunks: (isChanged ? hunks : []) as unknown as JsonValue,
    previous_record: before.record,
  };
}

/** The form in which `parse-diff` and Firecrawl's clients know a difference. */
export function parsedDiff(hunks: readonly DiffHunk[]): Record<string, unknown> {
  const totals = { additions: 0, deletions: 0 };
  const chunks = hunks.map(({ before_line: from, after_line: to, lines }) => {
    let [old, recent] = [from, to];
    const changes = lines.map(({ op, text }) => {
      const content = `${op}${text}`;
      if (op === "-") {
        totals.deletions += 1;
        return { type: "del", del: true, ln: old++, content };
      }
      if (op === "+") {
        totals.additions += 1;
        return { type: "add", add: true, ln: recent++, content };
      }
      return { type: "normal", normal: true, ln1: old++, ln2: recent++, content };
    });
    const counts = [old - from, recent - to];
    return {
      content: `@@ -${from},${counts[0]} +${to},${counts[1]} @@`,
      changes,
      oldStart: from,
      oldLines: counts[0],
      newStart: to,
      newLines: counts[1],
    };
  });
  return { files: [{ from: null, to: null, chunks, ...totals }] };
}
