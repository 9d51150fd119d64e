/**
 * npm run bench -- learn FOLDER: learns the fields of each site from three labelled pages and scores the others, beside
 * the naive way: the full CSS path of the first example's element. A folder has `*.jsonl.gz`, each line
 * `{id, html, truth: {field: [values]}}`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { decodeHTML } from "entities";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { Element } from "../../src/extract/dom/nodes.ts";
import { LabelledPage } from "../../src/extract/learn/labelled-page.ts";
import { learnField } from "../../src/extract/learn/learn.ts";
import { findOccurrences } from "../../src/extract/learn/occurrences.ts";
import { squeeze } from "../../src/extract/dom/text.ts";
import { parsePage } from "../../src/extract/page.ts";
import { compileRule, Problems } from "../../src/extract/rules/compile.ts";
import { evaluate } from "../../src/extract/rules/evaluate.ts";
import { print } from "../support/measure.ts";

interface Line {
  id: string;
  html: string;
  truth: Record<string, string[]>;
}

const EXAMPLES = 3;
/** Other examples each time, the same in every run. */
const SELECTIONS = 5;

export async function run(_rounds: number, { folders }: { folders: readonly string[] }): Promise<boolean> {
  const scores: number[] = [];
  const naive: number[] = [];
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl.gz"))) {
      const lines = gunzipSync(readFileSync(join(folder, file)))
        .toString()
        .trim()
        .split("\n");
      const score = scoreSite(lines.map((line) => JSON.parse(line) as Line));
      print(
        `${file.replace(".jsonl.gz", "").padEnd(32)} ${score.f1.toFixed(3)}  full path ${score.naive.toFixed(3)}  ${score.shown}  ${score.ms.toFixed(0)} ms to learn`,
      );
      scores.push(score.f1);
      naive.push(score.naive);
    }
  }
  const mean = meanOf(scores);
  print(`value F1, mean of ${scores.length} sites: ${mean.toFixed(4)}; full CSS path: ${meanOf(naive).toFixed(4)}`);
  return mean >= 0.95;
}

const meanOf = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;

type Rule = Record<string, JsonValue>;

/** What a browser's "Copy selector" gives: the path from the root to the element of the first example. */
function fullPath(field: string, examples: readonly LabelledPage[]): Rule | undefined {
  for (const page of examples)
    for (const value of page.examples[field] ?? []) {
      const [first] = findOccurrences(page, value);
      if (first === undefined) continue;
      const steps: string[] = [];
      for (let at: Element | null = first.element; at !== null && at.tag.name !== "html"; at = at.parent)
        steps.unshift(stepOf(at));
      const css = ["html", ...steps].join(" > ");
      return first.take.kind === "attr" ? { css, attr: first.take.name } : { css };
    }
  return undefined;
}

function stepOf(element: Element): string {
  let [index, count] = [0, 0];
  for (let node = element.parent?.first ?? null; node !== null; node = node.next) {
    if (node.kind !== 1 || node.tag.name !== element.tag.name) continue;
    count += 1;
    if (node === element) index = count;
  }
  return count > 1 ? `${element.tag.name}:nth-of-type(${index})` : element.tag.name;
}

interface LabelledFacts {
  facts: ReturnType<typeof parsePage>["facts"];
  truth: Line["truth"];
}

/** On the pages that were no examples. */
function f1Of(
  field: string,
  found: Rule | undefined,
  pages: readonly LabelledFacts[],
  chosen: ReadonlySet<number>,
): number {
  const rule = found === undefined ? null : compileRule(field, found, field, new Problems());
  let [right, given, wanted] = [0, 0, 0];
  for (const [index, { facts, truth }] of pages.entries()) {
    if (chosen.has(index)) continue;
    const value = rule === null ? null : evaluate(rule, { facts, element: facts.document.root }).value;
    const values = new Set(
      (Array.isArray(value) ? value : value === null ? [] : [value]).map((one) => squeeze(String(one))),
    );
    const truths = new Set(truth[field]!.map(squeeze));
    right += [...values].filter((one) => truths.has(one)).length;
    given += values.size;
    wanted += truths.size;
  }
  return given + wanted === 0 ? 1 : (2 * right) / (given + wanted);
}

function scoreSite(lines: readonly Line[]): { f1: number; naive: number; shown: string; ms: number } {
  const pages = lines.map(({ html, truth }) => {
    const { facts } = parsePage({ body: html, contentType: "text/html", url: null });
    // The annotated values are raw source text.
    const values = Object.entries(truth).map(
      ([field, list]) => [field, list.map((value) => decodeHTML(value))] as const,
    );
    return { facts, truth: Object.fromEntries(values) as Line["truth"] };
  });
  const fields = Object.keys(lines[0]!.truth).filter((field) => lines.some(({ truth }) => truth[field]!.length > 0));
  const byField = new Map(fields.map((field) => [field, 0]));
  const naive: number[] = [];
  let ms = 0;
  for (let round = 0; round < SELECTIONS; round += 1) {
    const chosen = new Set(Array.from({ length: EXAMPLES }, (_, index) => (round * EXAMPLES + index) % pages.length));
    const begun = performance.now();
    const examples = [...chosen].map((index) => new LabelledPage(pages[index]!.facts, pages[index]!.truth));
    const rules = fields.map((field) => [field, learnField(field, examples)[0]] as const);
    ms += performance.now() - begun;
    for (const [field, learned] of rules) {
      const f1 = f1Of(field, learned?.rule, pages, chosen);
      byField.set(field, byField.get(field)! + f1 / SELECTIONS);
      naive.push(f1Of(field, fullPath(field, examples), pages, chosen));
      if (f1 < 0.95) print(`  ${field} ${f1.toFixed(3)} by ${JSON.stringify(learned?.rule ?? null)}`);
    }
  }
  return {
    f1: meanOf([...byField.values()]),
    naive: meanOf(naive),
    ms: ms / SELECTIONS,
    shown: [...byField].map(([field, one]) => `${field} ${one.toFixed(2)}`).join("  "),
  };
}
