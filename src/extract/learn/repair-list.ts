/**
 * Repairs the rules of a list of records: the rule that finds the records, or rules of their fields. Records that the new
 * page still shows are the examples; others of them prove what was learned.
 */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { squeeze, textOf } from "../dom/text.ts";
import { extract, parsePage, type ParsedPage } from "../page.ts";
import { compilePlan } from "../plan.ts";
import { compileItems, Problems } from "../rules/compile.ts";
import type { Scope } from "../rules/extractors.ts";
import { learnItems } from "./items.ts";
import {
  abstained,
  rawRule,
  type Repair,
  type RepairedRules,
  repairIn,
  type RepairOrder,
  type RuleInput,
  similarity,
  whyFixed,
} from "./repair.ts";

type Rules = Readonly<Record<string, RuleInput>>;
/** By field: the text as the page shows it. */
type Texts = Readonly<Record<string, string>>;

/** A saved page with its records, and the same page as it is now. */
interface Lists {
  before: Texts[];
  page: ParsedPage;
}

const MAX_RECORDS = 2000;
/** Shorter values occur everywhere. */
const MIN_LENGTH = 3;

export function repairList(order: RepairOrder): RepairedRules {
  const all = (reason: string): RepairedRules => ({
    items: order.broken.includes(null) ? abstained(reason) : null,
    fields: Object.fromEntries(named(order).map((field) => [field, abstained(reason)])),
  });
  if (order.pairs.length === 0) return all("no page of the run has a saved version");
  const raw = Object.fromEntries(
    Object.entries(order.fields).map(([field, rule]) => [field, rawRule(asRule(rule))]),
  ) as Rules;
  const lists = order.pairs.map(({ before, now }) => ({
    before: recordsOf(parsePage(before), order.items, raw),
    page: parsePage(now),
  }));
  if (lists.some(({ page }) => page.kind === "json")) return all("lists of JSON records cannot be repaired");
  const count = (of: (list: Lists) => number) => lists.reduce((sum, list) => sum + of(list), 0);
  const before = count((list) => list.before.length);
  const now = count(({ page }) => itemsOn(page, order.items).length);
  if (before === 0) return all("no saved page has a record");
  return now < before / 2 || order.broken.includes(null) ? repairItems(order, raw, lists) : repairFields(order, lists);
}

const named = ({ broken }: RepairOrder): string[] => broken.filter((field) => field !== null);
const asRule = (rule: JsonValue): RuleInput => (typeof rule === "string" ? { css: rule } : ((rule ?? {}) as RuleInput));

function recordsOf(page: ParsedPage, items: JsonValue, fields: Rules): Texts[] {
  const plan = compilePlan({ fields: fields as never, items: items as never, links: false });
  return extract(page, plan)
    .records.slice(0, MAX_RECORDS)
    .map((record) =>
      Object.fromEntries(
        Object.entries(record).flatMap(([field, value]) => {
          const text = typeof value === "string" || typeof value === "number" ? squeeze(String(value)) : "";
          return text === "" ? [] : [[field, text]];
        }),
      ),
    );
}

function itemsOn({ facts }: ParsedPage, items: JsonValue): Scope[] {
  const select = compileItems(items, "items", new Problems());
  const found = select?.({ facts, element: facts.document.root }, MAX_RECORDS) ?? [];
  return found.flatMap((match) => ("element" in match ? [{ facts, element: match.element }] : []));
}

/** The records are found, and fields of them are not: each record that is still shown is an example. */
function repairFields(order: RepairOrder, lists: readonly Lists[]): RepairedRules {
  const found = lists.flatMap(({ before, page }) => {
    const items = itemsOn(page, order.items).map((scope) => ({ scope, text: textOf(scope.element) }));
    return { before, items };
  });
  const fields = named(order).map((field): [string, Repair] => {
    const why = whyFixed(order.fields[field]);
    if (why !== null) return [field, abstained(why)];
    const known = found.flatMap(({ before, items }) =>
      before.flatMap((record) => {
        const value = record[field];
        const scope = value === undefined ? null : itemOf(record, items);
        return scope === null ? [] : [{ values: [value!], page: scope }];
      }),
    );
    if (known.length < MIN_RECORDS) return [field, abstained("too few records of the saved pages are still shown")];
    const matched = new Set(known.map(({ page }) => page.element));
    const rest = found.flatMap(({ items }) => items).filter(({ scope }) => !matched.has(scope.element));
    const others = [...known.slice(MAX_EXAMPLES).map(({ page }) => page), ...rest.map(({ scope }) => scope)];
    const repaired = repairIn(
      field,
      asRule(order.fields[field]!),
      known.slice(0, MAX_EXAMPLES),
      others.slice(0, MAX_OTHERS),
    );
    return [
      field,
      isProven(field, repaired, known) ? repaired : abstained("the new rule misses values of other records"),
    ];
  });
  return { items: null, fields: Object.fromEntries(fields) };

  function isProven(field: string, repaired: Repair, known: readonly { values: string[]; page: Scope }[]): boolean {
    if (repaired.kind === "abstained") return true;
    const rules = { [field]: rawRule(repaired.rule) };
    const right = lists.flatMap(({ page }) => recordsOf(page, order.items, rules)).map((record) => record[field]);
    const values = new Set(right);
    return known.filter(({ values: [value] }) => values.has(value)).length >= MIN_REPRODUCED * known.length;
  }
}

const MIN_RECORDS = 4;
const MAX_EXAMPLES = 8;
const MAX_OTHERS = 60;
const MIN_REPRODUCED = 0.9;

/** The one item that shows every value of the record. */
function itemOf(record: Texts, items: readonly { scope: Scope; text: string }[]): Scope | null {
  const values = Object.values(record).filter((value) => value.length >= MIN_LENGTH);
  if (values.length === 0) return null;
  const shown = items.filter(({ text }) => values.every((value) => text.includes(value)));
  return shown.length === 1 ? shown[0]!.scope : null;
}

/** The rule of the records broke: learns it, and the rules of fields that do not fit any more, from some of the records. */
function repairItems(order: RepairOrder, raw: Rules, lists: readonly Lists[]): RepairedRules {
  const none = (reason: string): RepairedRules => ({
    items: abstained(reason),
    fields: Object.fromEntries(named(order).map((field) => [field, abstained(reason)])),
  });
  const known = lists.map(({ before, page }) => ({ page, records: before.filter((record) => isShown(record, page)) }));
  const survivors = known.flatMap(({ records }) => records);
  if (survivors.length < MIN_RECORDS) return none("too few records of the saved pages are still shown");
  // Every other one: those between them prove what was learned.
  const names = Object.keys(raw).filter((field) => survivors.every((record) => record[field] !== undefined));
  if (names.length < 2) return none("a list with fewer than two fields that are always filled cannot be repaired");
  const examples = known
    .map(({ page, records }) => ({
      page,
      records: records.filter((_, index) => index % 2 === 0).slice(0, MAX_EXAMPLES),
    }))
    .filter(({ records }) => records.length > 1)
    .map(({ page, records }) => ({
      facts: page.facts,
      examples: Object.fromEntries(names.map((field) => [field, records.map((record) => record[field]!)])),
    }));
  const learned = examples.length === 0 ? null : learnItems(examples);
  if (learned === null) return none("no rule finds the records of the saved pages on the new ones");
  const fields: Record<string, Repair> = {};
  const rules: Record<string, RuleInput> = {};
  const pages = known.map(({ page }) => page);
  const right = (field: string, rule: RuleInput) => {
    const found = new Set(
      pages.flatMap((page) => recordsOf(page, learned.items, { [field]: rule })).map((one) => one[field]),
    );
    const wanted = survivors.filter((record) => record[field] !== undefined);
    return wanted.length === 0 ? 0 : wanted.filter((record) => found.has(record[field]!)).length / wanted.length;
  };
  for (const [field, old] of Object.entries(raw)) {
    const candidates = [old, ...(learned.fields[field] ?? []).map(({ rule }) => rule)];
    const chosen = candidates.find((rule) => right(field, rule) >= MIN_REPRODUCED);
    const why = chosen === undefined ? (whyFixed(order.fields[field]) ?? "no rule finds its old values") : null;
    if (chosen === undefined) {
      fields[field] = abstained(why!);
      continue;
    }
    rules[field] = chosen;
    const options = Object.entries(asRule(order.fields[field]!)).filter(([key]) => old[key] === undefined);
    const rule = chosen === old ? asRule(order.fields[field]!) : { ...chosen, ...Object.fromEntries(options) };
    if (chosen !== old || order.broken.includes(field)) fields[field] = { kind: "proposal", rule, confidence: 1 };
  }
  const now = pages.map((page) => recordsOf(page, learned.items, rules));
  const confidence = confidenceIn(now, lists, survivors, rules);
  if (typeof confidence === "string") return none(confidence);
  for (const repair of Object.values(fields)) if (repair.kind === "proposal") repair.confidence = confidence;
  return { items: { kind: "proposal", rule: learned.items, confidence }, fields };
}

function isShown(record: Texts, { facts }: ParsedPage): boolean {
  const text = textOf(facts.document.root);
  const values = Object.values(record);
  return values.some((value) => value.length >= MIN_LENGTH) && values.every((value) => text.includes(value));
}

/** Or why the new rules are not clearly right. */
function confidenceIn(
  now: readonly Texts[][],
  lists: readonly Lists[],
  survivors: readonly Texts[],
  rules: Rules,
): number | string {
  for (const [index, { before }] of lists.entries()) {
    const count = now[index]!.length;
    if (count * 2 < before.length || count > before.length * 2 + 1)
      return `the new rule finds ${count} records where the saved page had ${before.length}`;
  }
  const names = Object.keys(rules);
  const keyOf = (record: Texts) => JSON.stringify(names.map((field) => record[field] ?? null));
  const found = new Set(now.flat().map(keyOf));
  const reproduced = survivors.filter((record) => found.has(keyOf(record))).length / survivors.length;
  if (reproduced < MIN_REPRODUCED) return "the new rules mix up the values of records that are still shown";
  const alike = names.map((field) => {
    const [old, recent] = [lists.flatMap(({ before }) => before), now.flat()].map((records) =>
      records.flatMap((record) => record[field] ?? []),
    );
    return similarity(old!, recent!);
  });
  const least = Math.min(reproduced, ...alike);
  if (least < MIN_REPRODUCED) return "the new rules give values that look different";
  return Math.round(100 * least) / 100;
}
