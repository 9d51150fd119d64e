/** Finds new rules for all broken fields of a job, from its saved pages and the same pages as they are now. */
import { type PageInput, parsePage, type ParsedPage } from "../page.ts";
import { abstained, type Repair, type RepairedRules, repairField, type RepairOrder, whyFixed } from "./repair.ts";
import { repairList } from "./repair-list.ts";

export function repairRules(order: RepairOrder): RepairedRules {
  if (order.items !== null) return repairList(order);
  const named = order.broken.filter((field) => field !== null);
  const others = ofSameKind(order);
  const fields = named.map((field): [string, Repair] => [field, repairNamed(order, field, others)]);
  return { items: null, fields: Object.fromEntries(fields) };
}

/** With fewer pages, and none to compare with, a rule may fit by chance. */
const MIN_PAIRS_ALONE = 3;
function repairNamed({ fields, pairs }: RepairOrder, field: string, others: readonly PageInput[]): Repair {
  const rule = fields[field];
  const why = whyFixed(rule);
  if (why !== null) return abstained(why);
  if (others.length === 0 && pairs.length < MIN_PAIRS_ALONE)
    return abstained("too few pages of the run to be sure: the same pages as saved, and others like them");
  return repairField({ field, rule: rule!, pairs, others });
}

/** A crawl has lists and other pages, too: a rule that finds nothing there is not wrong. */
const MIN_LIKENESS = 0.6;

function ofSameKind({ pairs, others }: RepairOrder): PageInput[] {
  const known = pairs.map(({ now }) => signatureOf(parsePage(now)));
  return others.filter((page) => {
    const signature = signatureOf(parsePage(page));
    return known.some((other) => likeness(signature, other) >= MIN_LIKENESS);
  });
}

const OPEN_TAG = /<([a-z][a-z0-9-]*)(?:\s[^>]*?\bclass\s*=\s*["']?([^"'>]*))?/gi;

/** Tags with their classes: pages of one template share most of them. */
function signatureOf({ text, kind }: ParsedPage): Set<string> {
  const parts = new Set<string>([kind]);
  for (const [, tag = "", classes = ""] of text.matchAll(OPEN_TAG)) {
    parts.add(tag.toLowerCase());
    for (const name of classes.split(/\s+/)) if (name !== "") parts.add(`${tag.toLowerCase()}.${name}`);
  }
  return parts;
}

function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((part) => other.has(part)).length;
  return common / (one.size + other.size - common);
}
