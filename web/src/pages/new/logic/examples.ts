/** Example values on up to five pages, the request that learns rules from them, and the rules in the form. */
import { likelyAttribute, meaningfulClasses, type Node } from "../../../logic/selector.ts";
import type { Form } from "./new-form.ts";
import { nameOf, type Picked } from "./pick.ts";
import { freeName, itemsFromJson, itemsToJson, NO_ITEMS, rulesFromFields } from "./rules.ts";

export const MOST_PAGES = 5;
const LONGEST = 10_000;

export interface ExamplePage {
  key: number;
  url: string;
  html: string;
  isJson: boolean;
}

interface ExampleValue {
  /** Key of its page. */
  page: number;
  text: string;
  /** In document order; a value that the page does not show comes last. */
  position: number;
  /** The last of nested elements with this text; absent: `position`. */
  end?: number;
}

/** Elements with a typed text: nested ones with the same text are one place. */
interface TextPlace {
  first: number;
  last: number;
}

export interface ExampleField {
  key: number;
  name: string;
  /** What clicked elements of the field look like; empty: none was clicked. */
  look: string;
  values: readonly ExampleValue[];
}

/** The field that the next click fills; `once`: only that one. */
export interface Armed {
  key: number;
  once: boolean;
}

/** A learned rule and what it finds. */
export interface LearnedRule {
  rule: Record<string, unknown>;
  score: number;
  values: unknown[];
}

export const nextOf = (list: readonly { key: number }[]) => Math.max(0, ...list.map(({ key }) => key)) + 1;

const looksLike = ({ tag, classes, attributes }: Node) =>
  [tag, ...meaningfulClasses(classes).toSorted(), attributes["itemprop"] ?? ""].join(".");

/** The value that is meant by a click on an element; a string says why there is none. */
function clickedValue({ chain, text }: Pick<Picked, "chain" | "text">): { text: string } | string {
  const [target] = chain;
  if (target === undefined) return "Nothing was clicked.";
  const attr = likelyAttribute(target, text);
  const value = attr === "" ? text : (target.attributes[attr] ?? "").trim();
  if (value === "") return "This element has no text. Click the value itself, or type it.";
  if (value.length > LONGEST) return "This element has too much text. Click a smaller part of it.";
  return { text: value };
}

/**
 * Adds a clicked value: to the armed field; on another page to the field of similar elements; in a list also on the same
 * page. Otherwise to a new field.
 */
export function withClick(
  fields: readonly ExampleField[],
  picked: Picked & { position: number },
  { page, armed, isList }: { page: number; armed: Armed | null; isList: boolean },
): { fields: ExampleField[]; name: string; text: string } | string {
  const value = clickedValue(picked);
  if (typeof value === "string") return value;
  const look = picked.chain.slice(0, 2).map(looksLike).join(" in ");
  // The same element counts once.
  const known = fields.find(({ values }) => values.some((one) => one.page === page && isAt(one, picked.position)));
  if (known !== undefined && (armed === null || armed.key === known.key))
    return { fields: [...fields], name: known.name, text: value.text };
  const similar = fields.filter((field) => field.look === look);
  const chosen =
    fields.find(({ key }) => key === armed?.key) ??
    similar.find(({ values }) => !values.some((one) => one.page === page)) ??
    (isList ? similar[0] : undefined);
  const added = { page, position: picked.position, ...value };
  if (chosen !== undefined)
    return {
      fields: fields.map((field) =>
        field.key === chosen.key ? { ...withValue(field, added), look: field.look === "" ? look : field.look } : field,
      ),
      name: chosen.name,
      text: value.text,
    };
  const name = freeName(nameOf(picked.chain[0] as Node), fields);
  return { fields: [...fields, { key: nextOf(fields), name, look, values: [added] }], name, text: value.text };
}

const isAt = ({ position, end = position }: ExampleValue, at: number) => position <= at && at <= end;

/** The values of a page are in document order. A click says where a typed value is. */
function withValue(field: ExampleField, value: ExampleValue): ExampleField {
  const isSame = (other: ExampleValue) =>
    other.page === value.page && other.text === value.text && other.position === Infinity;
  const same = field.values.find(isSame);
  const values = [...field.values.filter((other) => other !== same), value];
  // Values that the page does not show stay in the order they were typed in.
  return { ...field, values: values.toSorted((a, b) => (a.position === b.position ? 0 : a.position - b.position)) };
}

/**
 * Adds a typed value at the first of its places that the field does not have yet. In a list, records may have the same
 * value; a single record has each value once. A string says why nothing is added.
 */
export function withTyped(
  field: ExampleField,
  { page, text, places, isList }: { page: number; text: string; places: readonly TextPlace[]; isList: boolean },
): ExampleField | string {
  const here = field.values.filter((one) => one.page === page);
  if (!isList && here.some((one) => one.text === text)) return `${field.name} has this value already.`;
  const isUsed = ({ first, last }: TextPlace) => here.some((one) => one.position >= first && one.position <= last);
  const free = places.find((place) => !isUsed(place));
  if (free === undefined && places.length > 0)
    return `The page shows this value ${places.length === 1 ? "once" : `${places.length} times`}, and ${field.name} has it already.`;
  const at = free === undefined ? { position: Infinity } : { position: free.first, end: free.last };
  return withValue(field, { page, text, ...at });
}

/** What keeps the rules from being learned; empty: nothing. */
export function exampleProblems(
  fields: readonly ExampleField[],
  { isList = false }: { isList?: boolean } = {},
): Map<number, string> {
  const problems = new Map<number, string>();
  const seen = new Set<string>();
  for (const field of fields) {
    const { key, name, values } = field;
    const misfit = isList ? misfitOf(field, fields) : null;
    if (name.trim() === "") problems.set(key, "Give this field a name.");
    else if (seen.has(name.trim())) problems.set(key, "Another field has this name.");
    else if (values.length === 0) problems.set(key, "Click a value on the page, or type one.");
    else if (misfit !== null) problems.set(key, misfit);
    seen.add(name.trim());
  }
  return problems;
}

/** Each field of a list needs equally many values on a page: those of its first records. */
function misfitOf(field: ExampleField, fields: readonly ExampleField[]): string | null {
  const countOn = ({ values }: ExampleField, page: number) => values.filter((one) => one.page === page).length;
  const pages = new Set(fields.flatMap(({ values }) => values.map(({ page }) => page)));
  for (const page of pages) {
    const most = Math.max(...fields.map((one) => countOn(one, page)));
    const count = countOn(field, page);
    if (count >= 2 && count === most) continue;
    const wanted = Math.max(2, most);
    return `A list needs the values of its first records: ${wanted} of each field on a page, here ${count}.`;
  }
  return null;
}

/** The body of `POST /extract/learn`: the pages as they are shown, so that none is fetched again. */
export function learnOrder(pages: readonly ExamplePage[], fields: readonly ExampleField[], isList: boolean) {
  return {
    records: isList ? ("list" as const) : ("one" as const),
    pages: pages.map(({ key, url, html, isJson }) => ({
      url,
      html,
      ...(isJson ? { content_type: "application/json" } : {}),
      examples: Object.fromEntries(
        fields.flatMap(({ name, values }) => {
          const texts = values.filter(({ page }) => page === key).map(({ text }) => text);
          return texts.length === 0 ? [] : [[name.trim(), texts] as const];
        }),
      ),
    })),
  };
}

export interface Lesson {
  items: Record<string, unknown> | null;
  alternatives: Record<string, LearnedRule[]>;
}

/** The chosen rule of each learned field; `choice` has the index of its alternative. */
export function chosenRules({ alternatives }: Lesson, choice: Readonly<Record<string, number>>) {
  return Object.fromEntries(
    Object.entries(alternatives).flatMap(([field, rules]) => {
      const { rule } = rules[choice[field] ?? 0] ?? rules[0] ?? {};
      return rule === undefined ? [] : [[field, rule] as const];
    }),
  );
}

/**
 * The form with the learned rules. Its other fields stay if they are read from the same records; `dropped` names those
 * that are not.
 */
export function formWithRules(
  form: Pick<Form, "rules" | "items">,
  lesson: Lesson,
  choice: Readonly<Record<string, number>>,
): Pick<Form, "rules" | "items"> & { dropped: string[] } {
  const learned = rulesFromFields(chosenRules(lesson, choice));
  const names = new Set(learned.map(({ name }) => name));
  const others = form.rules.filter(({ name }) => !names.has(name));
  const items = lesson.items === null ? NO_ITEMS : itemsFromJson(lesson.items);
  const isSame = JSON.stringify(itemsToJson(items)) === JSON.stringify(itemsToJson(form.items));
  const kept = isSame ? others : [];
  return {
    rules: [...kept, ...learned].map((rule, n) => ({ ...rule, key: n + 1 })),
    items,
    dropped: isSame ? [] : others.map(({ name }) => name),
  };
}
