/** Compares the content of a page with its last good one: the only place that decides whether a page has changed. */
import { hash } from "node:crypto";
import type { JsonValue } from "../lane/queue-item.ts";
import { compileRegex, type Pattern } from "../text/regex.ts";
import { minShareOf, MONITOR_DEFAULTS, type MonitorOptions, regexIn } from "./options.ts";
import { comparePictures, type PictureDiff, readPng } from "./picture.ts";
import { compareRecords, type RecordChange, recordLines, type RecordRules } from "./record-changes.ts";
import { decodeContent } from "./content.ts";
import { learnFrom } from "./volatile/learn.ts";
import { learnFromRuns, observe } from "./volatile/learn-from-runs.ts";
import { alignDates, prepareText, type PreparedText, type TextRules } from "./prepared-text.ts";
import { withoutNamed } from "./volatile/mask.ts";
import { NO_PROFILE, type VolatileProfile } from "./volatile/profile.ts";
import { type IgnoredPlace, type LeftOutPlace, leftOutOf } from "./ignored.ts";
import { type DiffHunk, diffTexts, NO_DIFF, stableDigest, type TextDiff, unifiedDiff } from "./text-diff.ts";

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
  /** What was left out as noise; absent in differences of earlier versions. */
  ignored?: IgnoredPlace[];
}

interface PageComparison {
  isChanged: boolean;
  /** No further fetch would turn the change into noise. */
  isCertain: boolean;
  /** A later fetch was as the last run: it is not known yet whether this is a change. */
  isUnsettled: boolean;
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
  /** Further fetches of the page, right after the first. */
  again: readonly Buffer[];
  profile: VolatileProfile;
  /** When the contents were fetched; null: not known, and dates are no changes. */
  beforeAt: number | null;
  afterAt: number | null;
}

const NOTHING: MonitorDiff = {
  unified: "",
  hunks: [],
  records: null,
  picture: null,
  truncated: false,
  ignored: [],
};

/** A monitor's rules, compiled once. */
export class PageComparer {
  readonly #options: MonitorOptions;
  readonly #rules: TextRules;
  readonly #recordRules: RecordRules;
  readonly #watch: { places: ReadonlySet<string>; patterns: Pattern[] };

  readonly #preparedTexts = new WeakMap<Buffer, { at: number | null; text: PreparedText }>();

  constructor(given: MonitorOptions) {
    // Jobs of earlier versions lack some.
    const options = { ...MONITOR_DEFAULTS, ...given };
    this.#options = options;
    const compiled = (patterns: readonly string[]) =>
      patterns.flatMap((pattern) => {
        const source = regexIn(pattern);
        return source === null ? [] : [compileRegex(source)];
      });
    const ignore = compiled(options.ignore);
    this.#watch = { places: new Set(options.watch), patterns: compiled(options.watch) };
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
    const text = this.#prepared(content, at);
    return stableDigest(text, this.#learns ? this.#unwatched(profile, text) : NO_PROFILE);
  }

  compare(pair: Compared): PageComparison {
    if (this.#options.what === "screenshot") return this.#pictures(pair);
    return this.#options.what === "fields" ? this.#records(pair) : this.#texts(pair);
  }

  /** The places that the page leaves out, with what it shows there. */
  leftOut(content: Buffer, profile: VolatileProfile, at: number | null): LeftOutPlace[] {
    if (this.isSteady(profile)) return [];
    const text = this.#prepared(content, at);
    return leftOutOf(text, this.#unwatched(profile, text));
  }

  /** Whether nothing of the page is left out: then equal contents tell nothing new. */
  isSteady({ lines, slots, regions = [] }: VolatileProfile): boolean {
    return !this.#learns || this.#options.what === "screenshot" || lines.length + slots.length + regions.length === 0;
  }

  get #learns(): boolean {
    return this.#options.learn && this.#options.what !== "fields";
  }

  #texts({ before, after, again, profile: known, beforeAt, afterAt }: Compared): PageComparison {
    const [first, second] = [this.#prepared(before, beforeAt), this.#prepared(after, afterAt)];
    const [old, recent] = alignDates(first, second);
    if (!this.#learns) return this.#textVerdict(diffTexts(old, recent, NO_PROFILE), NO_PROFILE);
    const others = again.map((content) => this.#prepared(content, afterAt));
    const { profile, evidence } = learnFrom(known, first, second, others);
    const usable = this.#unwatched(profile, old, recent);
    const watched =
      this.#options.watch.length === 0 ? evidence : evidence.without((text) => this.#isWatched(text, [text]));
    let diff = diffTexts(old, recent, usable, watched);
    // What is reported anyway is reported whole: the next run is compared with this one.
    if (diff.isUnsettled && diff.added + diff.removed > 0) diff = diffTexts(old, recent, usable, watched, true);
    return this.#textVerdict(diff, observe(learnFromRuns(profile, old, recent), recent));
  }

  /** A page is compared several times while it is fetched again. */
  #prepared(content: Buffer, at: number | null): PreparedText {
    const known = this.#preparedTexts.get(content);
    if (known !== undefined && known.at === at) return known.text;
    const isRecords = this.#options.what === "fields";
    const read = isRecords ? { text: recordLines(recordsIn(content)), tree: null } : decodeContent(content);
    const text = prepareText(read, this.#rules, at);
    this.#preparedTexts.set(content, { at, text });
    return text;
  }

  #textVerdict(diff: TextDiff, profile: VolatileProfile): PageComparison {
    const { hunks, truncated, ignored } = diff;
    const shown = { ...NOTHING, hunks, truncated, unified: unifiedDiff(hunks), ignored };
    return this.#verdict(diff, shown, profile, summaryOf(diff));
  }

  /** Without the places that the user watches. */
  #unwatched(profile: VolatileProfile, ...texts: PreparedText[]): VolatileProfile {
    return this.#options.watch.length === 0
      ? profile
      : withoutNamed(profile, texts, (name) => this.#isWatched(name, [name]));
  }

  #isWatched(place: string | null, lines: readonly string[]): boolean {
    if (place !== null && this.#watch.places.has(place)) return true;
    return this.#watch.patterns.some((pattern) => lines.some((line) => pattern.test(line)));
  }

  #records({ before, after }: Compared): PageComparison {
    const [old, recent] = [recordsIn(before), recordsIn(after)];
    const records = compareRecords(old, recent, this.#recordRules);
    const plain: TextRules = { noise: new Set(), ignore: [], isSet: false };
    const [oldText, newText] = [old, recent].map((list): PreparedText =>
      prepareText({ text: recordLines(list), tree: null }, plain, null),
    );
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
    const moving = new Set(this.#learns ? (known.tiles ?? []) : []);
    for (const content of this.#learns ? again : []) {
      const second = readPng(content);
      if (second === null) continue;
      // Where the second one is as before, the first one is a change.
      const other = new Set(comparePictures(old, second, [...moving]).tiles);
      for (const tile of comparePictures(recent, second, [...moving]).tiles) if (other.has(tile)) moving.add(tile);
    }
    const tiles = [...moving];
    const { share, boxes } = comparePictures(old, recent, tiles);
    const { width, height } = recent;
    const summary = `${Math.round(share * 1000) / 10} % of the pixels`;
    const diff = { ...NOTHING, picture: { share, boxes, width, height } };
    return this.#verdict({ ...NO_DIFF, share, added: share > 0 ? 1 : 0 }, diff, { ...known, tiles }, summary);
  }

  #verdict(
    { added, removed, share, hasValue, isUnsettled }: Omit<TextDiff, "hunks" | "truncated" | "ignored">,
    diff: MonitorDiff,
    profile: VolatileProfile,
    summary: string,
  ): PageComparison {
    const { what, min_words: words } = this.#options;
    const isEnough = what === "screenshot" || Math.max(added, removed) >= words;
    const isChanged = added + removed > 0 && isEnough && share >= minShareOf(this.#options);
    const counts = what === "screenshot" ? { added: 0, removed: 0 } : { added, removed };
    return { isChanged, isCertain: hasValue, isUnsettled, ...counts, share, summary, diff, profile };
  }
}

const MAX_RECORDS = 1000;
const MAX_SUMMARY = 160;

function recordsIn(content: Buffer): Record<string, JsonValue>[] {
  return JSON.parse(content.toString("utf8")) as Record<string, JsonValue>[];
}

const cut = (text: string) => (text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY - 1)}…` : text);

function summaryOf({ hunks }: TextDiff): string {
  const [{ lines: shown } = { lines: [] }] = hunks;
  const changed = shown.slice(shown.findIndex(({ op }) => op !== " "));
  const end = changed.findIndex(({ op }) => op === " ");
  const lines = end < 0 ? changed : changed.slice(0, end);
  const [gone, come] = [lines.find(({ op }) => op === "-"), lines.find(({ op }) => op === "+")];
  if (gone?.words !== undefined && come?.words !== undefined) {
    const wordsOf = ({ words = [] }: DiffHunk["lines"][number], op: string) =>
      words
        .filter((part) => part.op === op)
        .map(({ text }) => text.trim())
        .join(" … ");
    return cut(`${wordsOf(gone, "-") || "–"} → ${wordsOf(come, "+") || "–"}`);
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
