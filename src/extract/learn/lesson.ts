/** Turns example pages into rules for a job, with alternatives and their values. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { squeeze } from "../dom/text.ts";
import { extract, type PageInput, parsePage, type ParsedPage } from "../page.ts";
import { compilePlan } from "../plan.ts";
import { isListOfItems, learnItems } from "./items.ts";
import { findInJson } from "./json-rules.ts";
import { LabelledPage } from "./labelled-page.ts";
import { learnField, type LearnedRule } from "./learn.ts";
import { findOccurrences, findParts } from "./occurrences.ts";

export interface ExamplePage {
  input: PageInput;
  /** By field; an empty list: the page has none. */
  examples: Readonly<Record<string, readonly string[]>>;
}

export interface LessonInput {
  pages: readonly ExamplePage[];
  /** Values that occur on some of the pages. */
  examples: Readonly<Record<string, readonly string[]>>;
  /** Absent: decided by the examples. */
  records?: RecordsOnPage;
}

export type RecordsOnPage = "one" | "list";

interface Alternative {
  rule: Record<string, JsonValue>;
  /** From 0 to 1: expected robustness against changes of the page. */
  score: number;
  /** Its value per page, or per record of a list. */
  values: JsonValue[];
}

export interface Lesson {
  /** The selector of the records; null: each page is one. */
  items: Record<string, JsonValue> | null;
  /** The best rule of each field that could be learned. */
  fields: Record<string, Record<string, JsonValue>>;
  alternatives: Record<string, Alternative[]>;
  /** The first records per page. */
  records: Record<string, JsonValue>[][];
  /** Number of records per page. */
  record_counts: number[];
  problems: { field: string; page: number | null; message: string }[];
}

const MAX_SHOWN = 20;
const EMPTY_COST = 6;

export function learnRules({ pages, examples: unassigned, records: wanted }: LessonInput): Lesson {
  const parsed = pages.map(({ input }) => parsePage(input));
  const { assigned, problems } = assign(pages, parsed, unassigned);
  const lists = parsed.map(({ facts }, index) => ({ facts, examples: assigned[index]! }));
  const fields = [...new Set([...pages.flatMap(({ examples }) => Object.keys(examples)), ...Object.keys(unassigned)])];
  const isList = wanted === "list";
  const list = wanted !== "one" && isListOfItems(lists, isList) ? learnItems(lists, isList) : null;
  const labelled = lists.map(({ facts, examples }) => new LabelledPage(facts, examples));
  const items = list?.items ?? null;
  const lesson: Lesson = { items, fields: {}, alternatives: {}, records: [], record_counts: [], problems };
  if (isList && list === null) {
    // Rules for one record would be wrong.
    for (const field of fields) lesson.alternatives[field] = [];
    if (problems.length === 0) problems.push(...fields.flatMap((field) => problemsOfList(field, lists, labelled)));
    return { ...lesson, records: pages.map(() => []), record_counts: pages.map(() => 0) };
  }
  for (const field of fields) {
    const rules = list?.fields[field] ?? learnField(field, labelled);
    const found = rules.map((rule) => alternative(rule, field, items, parsed)).sort((a, b) => b.score - a.score);
    if (found.length > 0) lesson.fields[field] = found[0]!.rule;
    else if (!problems.some((problem) => problem.field === field)) problems.push(...problemsOf(field, labelled));
    lesson.alternatives[field] = found;
  }
  for (const page of parsed) {
    const records = recordsOf(page, items, lesson.fields);
    lesson.records.push(records.slice(0, MAX_SHOWN));
    lesson.record_counts.push(records.length);
  }
  return lesson;
}

/** Assigns each value to a page that shows it; of several, to the one with the fewest values of the field. */
function assign(
  pages: readonly ExamplePage[],
  parsed: readonly ParsedPage[],
  unassigned: LessonInput["examples"],
): { assigned: Record<string, string[]>[]; problems: Lesson["problems"] } {
  const assigned = pages.map(({ examples }) =>
    Object.fromEntries(Object.entries(examples).map(([field, values]) => [field, [...values]])),
  );
  const problems: Lesson["problems"] = [];
  const labelled = parsed.map(({ facts }) => new LabelledPage(facts, {}));
  for (const [field, values] of Object.entries(unassigned)) {
    for (const value of values.map(squeeze)) {
      const shown = assigned.filter((_, index) => isOnPage(labelled[index]!, value));
      const [first] = shown.toSorted((a, b) => (a[field]?.length ?? 0) - (b[field]?.length ?? 0));
      if (first === undefined) problems.push({ field, page: null, message: notFoundMessage(value, pages.length) });
      else (first[field] ??= []).push(value);
    }
  }
  return { assigned, problems };
}

function alternative(
  { rule, cost }: LearnedRule,
  field: string,
  items: Lesson["items"],
  pages: readonly ParsedPage[],
): Alternative {
  const records = pages.flatMap((page) => recordsOf(page, items, { [field]: rule }));
  const values = records.map((record) => record[field] ?? null);
  // All pages are of one kind: a rule that finds nothing on some is less reliable.
  const empty = values.filter((value) => value === null || (Array.isArray(value) && value.length === 0)).length;
  const penalizedCost = cost + (EMPTY_COST * empty) / Math.max(1, values.length);
  return { rule, score: Math.round(100 / (1 + penalizedCost / 6)) / 100, values: values.slice(0, MAX_SHOWN) };
}

function recordsOf(parsed: ParsedPage, items: Lesson["items"], fields: Lesson["fields"]): Record<string, JsonValue>[] {
  if (Object.keys(fields).length === 0) return [];
  const plan = compilePlan({ fields, ...(items === null ? {} : { items }), links: false });
  return extract(parsed, plan).records;
}

function problemsOf(field: string, pages: readonly LabelledPage[]): Lesson["problems"] {
  const absent = pages.flatMap((page, index) =>
    (page.examples[field] ?? [])
      .filter((value) => !isOnPage(page, value))
      .map((value) => ({ field, page: index, message: notFoundMessage(value, 1) })),
  );
  if (absent.length > 0) return absent;
  return [{ field, page: null, message: "no rule finds all examples: check that they are values of the same kind" }];
}

/** Why there is no list: values that no page shows, counts that do not fit, or no common element. */
function problemsOfList(
  field: string,
  lists: readonly { examples: Readonly<Record<string, readonly string[]>> }[],
  pages: readonly LabelledPage[],
): Lesson["problems"] {
  const [first] = problemsOf(field, pages);
  if (first !== undefined && first.page !== null) return [first];
  const misfit = lists.findIndex(({ examples }) => {
    const most = Math.max(0, ...Object.values(examples).map((values) => values.length));
    const count = examples[field]?.length ?? 0;
    return most > 0 && (count < 2 || count < most);
  });
  const message =
    misfit === -1
      ? "no element contains the values of each record: give those of the first records, in the order of the page"
      : "a list needs equally many values of each field on a page, two or more, in the order of the page";
  return [{ field, page: misfit === -1 ? null : misfit, message }];
}

function notFoundMessage(value: string, pages: number): string {
  const who = pages === 1 ? "the page does not contain" : "none of the pages contains";
  return `${who} "${shortened(value)}": copy the value as the page shows it`;
}

function isOnPage(page: LabelledPage, value: string): boolean {
  if (findInJson(page.facts, value).length > 0) return true;
  return findOccurrences(page, value).length > 0 || findParts(page, value).length > 0;
}

function shortened(value: string): string {
  const text = squeeze(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
