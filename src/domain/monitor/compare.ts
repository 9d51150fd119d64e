/** Compares the content of a page with its last good one: the only place that decides whether a page has changed. */
import { hash } from "node:crypto";
import type { JsonValue } from "../lane/queue-item.ts";
import { compileRegex } from "../text/regex.ts";
import { minShareOf, type MonitorOptions, regexIn } from "./options.ts";
import { comparePictures, type PictureDiff, readPng } from "./picture.ts";
import { compareRecords, type RecordChange, recordLines, type RecordRules } from "./record-changes.ts";
import {
  alignDates,
  type DiffHunk,
  diffTexts,
  prepareText,
  stableDigest,
  type TextDiff,
  type TextRules,
  unifiedDiff,
} from "./text-diff.ts";
import { learnFrom, learnFromRuns, NO_PROFILE, type VolatileProfile } from "./volatile.ts";

/** What is stored of a change, and shown. */
export interface MonitorDiff {
  /** As `diff -u` shows it; empty for a screenshot. */
  unified: string;
  hunks: DiffHunk[];
  /** Of `fields`. */
  records: RecordChange[] | null;
  /** Of a screenshot. */
  picture: (Omit<PictureDiff, "tiles"> & { width: number; height: number }) | null;
  truncated: boolean;
}

interface PageComparison {
  isChanged: boolean;
  added: number;
  removed: number;
  share: number;
  /** The first difference, in short. */
  summary: string;
  diff: MonitorDiff;
  profile: VolatileProfile;
}

interface Compared {
  before: Buffer;
  after: Buffer;
  /** A second fetch of the page, right after the first. */
  again: Buffer | null;
  profile: VolatileProfile;
  /** When the contents were fetched; null: not known, and dates are no changes. */
  beforeAt: number | null;
  afterAt: number | null;
}

const NOTHING: MonitorDiff = { unified: "", hunks: [], records: null, picture: null, truncated: false };

/** A monitor's rules, compiled once. */
export class PageComparer {
  readonly #options: MonitorOptions;
  readonly #rules: TextRules;
  readonly #recordRules: RecordRules;

  constructor(options: MonitorOptions) {
    this.#options = options;
    const ignore = options.ignore.flatMap((pattern) => {
      const source = regexIn(pattern);
      return source === null ? [] : [compileRegex(source)];
    });
    // What was asked for is never noise.
    const noise = new Set(options.what === "fields" ? [] : options.noise);
    this.#rules = { noise, ignore, isSet: options.what === "links" };
    const without = new Set(options.ignore.filter((pattern) => regexIn(pattern) === null));
    this.#recordRules = { key: options.key, without, ignore };
  }

  /**
   * Equal for contents without a difference; for what needs both contents, unequal more often than that. `at`: when the
   * content was fetched.
   */
  digestOf(content: Buffer, profile: VolatileProfile, at: number | null): string {
    const { what } = this.#options;
    if (what === "screenshot") return hash("sha256", content, "hex").slice(0, 32);
    const text = what === "fields" ? recordLines(recordsIn(content)) : content.toString("utf8");
    return stableDigest(prepareText(text, this.#rules, at), this.#learns ? profile : NO_PROFILE);
  }

  compare(pair: Compared): PageComparison {
    if (this.#options.what === "screenshot") return this.#pictures(pair);
    return this.#options.what === "fields" ? this.#records(pair) : this.#texts(pair);
  }

  get #learns(): boolean {
    return this.#options.learn && this.#options.what !== "fields";
  }

  #texts({ before, after, again, profile: known, beforeAt, afterAt }: Compared): PageComparison {
    const text = (content: Buffer, at: number | null) => prepareText(content.toString("utf8"), this.#rules, at);
    const [first, second] = [text(before, beforeAt), text(after, afterAt)];
    let profile = this.#learns ? known : NO_PROFILE;
    if (this.#learns && again !== null)
      profile = learnFrom(profile, first.lines, second.lines, text(again, afterAt).lines);
    const [old, recent] = alignDates(first, second);
    const diff = diffTexts(old, recent, profile);
    if (this.#learns) profile = learnFromRuns(profile, old.lines, recent.lines);
    const { hunks, truncated } = diff;
    return this.#verdict(diff, { ...NOTHING, hunks, truncated, unified: unifiedDiff(hunks) }, profile, summaryOf(diff));
  }

  #records({ before, after }: Compared): PageComparison {
    const [old, recent] = [recordsIn(before), recordsIn(after)];
    const records = compareRecords(old, recent, this.#recordRules);
    const plain: TextRules = { noise: new Set(), ignore: [], isSet: false };
    const [oldText, newText] = [old, recent].map((list) => prepareText(recordLines(list), plain, null));
    const diff = records.length === 0 ? NO_DIFF : diffTexts(oldText!, newText!, NO_PROFILE);
    const { hunks, truncated } = diff;
    const found = { ...NOTHING, hunks, unified: unifiedDiff(hunks), truncated, records: records.slice(0, MAX_RECORDS) };
    if (records.length > MAX_RECORDS) found.truncated = true;
    const isReal = records.length > 0;
    return {
      ...this.#verdict(diff, found, NO_PROFILE, recordSummary(records)),
      ...(isReal ? {} : { isChanged: false }),
    };
  }

  #pictures({ before, after, again, profile: known }: Compared): PageComparison {
    if (before.equals(after)) return this.#verdict(NO_DIFF, NOTHING, known, "");
    const [old, recent] = [readPng(before), readPng(after)];
    if (old === null || recent === null)
      return this.#verdict({ ...NO_DIFF, share: 1, added: 1 }, NOTHING, known, "another picture");
    let tiles = this.#learns ? (known.tiles ?? []) : [];
    const second = again === null || !this.#learns ? null : readPng(again);
    if (second !== null) {
      // Where the second one is as before, the first one is a change.
      const other = new Set(comparePictures(old, second, tiles).tiles);
      const moving = comparePictures(recent, second, tiles).tiles.filter((tile) => other.has(tile));
      tiles = [...new Set([...tiles, ...moving])];
    }
    const { share, boxes } = comparePictures(old, recent, tiles);
    const { width, height } = recent;
    const summary = `${Math.round(share * 1000) / 10} % of the pixels`;
    const diff = { ...NOTHING, picture: { share, boxes, width, height } };
    return this.#verdict({ ...NO_DIFF, share, added: share > 0 ? 1 : 0 }, diff, { ...known, tiles }, summary);
  }

  #verdict(
    { added, removed, share }: Pick<TextDiff, "added" | "removed" | "share">,
    diff: MonitorDiff,
    profile: VolatileProfile,
    summary: string,
  ): PageComparison {
    const { what, min_words: words } = this.#options;
    const isEnough = what === "screenshot" || Math.max(added, removed) >= words;
    const isChanged = added + removed > 0 && isEnough && share >= minShareOf(this.#options);
    const counts = what === "screenshot" ? { added: 0, removed: 0 } : { added, removed };
    return { isChanged, ...counts, share, summary, diff, profile };
  }
}

const NO_DIFF: TextDiff = { hunks: [], added: 0, removed: 0, share: 0, truncated: false };
const MAX_RECORDS = 1000;
const MAX_SUMMARY = 160;

function recordsIn(content: Buffer): Record<string, JsonValue>[] {
  return JSON.parse(content.toString("utf8")) as Record<string, JsonValue>[];
}

const cut = (text: string) => (text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY - 1)}…` : text);

function summaryOf({ hunks }: TextDiff): string {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const [gone, come] = [lines.find(({ op }) => op === "-"), lines.find(({ op }) => op === "+")];
  if (gone?.words !== undefined && come?.words !== undefined) {
    const changed = ({ words = [] }: DiffHunk["lines"][number], op: string) =>
      words
        .filter((part) => part.op === op)
        .map(({ text }) => text.trim())
        .join(" … ");
    return cut(`${changed(gone, "-") || "–"} → ${changed(come, "+") || "–"}`);
  }
  if (gone !== undefined && come !== undefined) return cut(`${gone.text.trim()} → ${come.text.trim()}`);
  return cut([gone, come].flatMap((line) => (line === undefined ? [] : [`${line.op} ${line.text.trim()}`])).join("  "));
}

function recordSummary(records: readonly RecordChange[]): string {
  const [first] = records;
  if (first === undefined) return "";
  const [field] = Object.entries(first.fields);
  if (first.change !== "changed" || field === undefined) return cut(`${first.change}: ${JSON.stringify(first.key)}`);
  const [name, { before, after }] = field;
  return cut(`${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`);
}
