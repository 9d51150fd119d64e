/**
 * npm run bench -- repair FOLDER [--limit CASES]: changes the layout of labelled pages, and repairs the rules that break.
 * The folder is as in the benchmark learn.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { decodeHTML } from "entities";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { squeeze } from "../../src/extract/dom/text.ts";
import { LabelledPage } from "../../src/extract/learn/labelled-page.ts";
import { learnField } from "../../src/extract/learn/learn.ts";
import { type Repair, repairField } from "../../src/extract/learn/repair.ts";
import { type PageInput, parsePage, type ParsedPage } from "../../src/extract/page.ts";
import { compileRule, Problems } from "../../src/extract/rules/compile.ts";
import { evaluate } from "../../src/extract/rules/evaluate.ts";
import { print } from "../support/measure.ts";
import { type Change, CHANGES, Redesign } from "./mutate.ts";

interface Line {
  html: string;
  truth: Record<string, string[]>;
}

const EXAMPLES = 3;
const PAIRS = 5;
const OTHERS = 12;
const CASES = 1000;
const GOOD = 0.95;

interface Counts {
  right: number;
  wrong: number;
  abstained: number;
}

export async function run(
  _rounds: number,
  { folders, limit }: { folders: readonly string[]; limit?: string },
): Promise<boolean> {
  const sites = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl.gz"))
      .map((name) => new Site(name.replace(".jsonl.gz", ""), join(folder, name))),
  );
  const wanted = Number(limit ?? CASES);
  const [gated, open]: Counts[] = [none(), none()];
  const reasons = new Map<string, number>();
  let ms = 0;
  const total = () => gated!.right + gated!.wrong + gated!.abstained;
  for (let seed = 1; total() < wanted && seed < 1000; seed += 1) {
    for (const site of sites) {
      const changes = changesOf(seed);
      const redesign = new Redesign(seed, changes);
      const now = site.pages.map(({ html }) => inputOf(redesign.apply(html)));
      const parsed = now.map((page) => parsePage(page));
      for (const [field, rule] of site.rules) {
        if (total() >= wanted || f1Of(field, rule, site, parsed) >= GOOD) continue;
        const pairs = site.pages
          .slice(0, PAIRS)
          .map(({ html }, index) => ({ before: inputOf(html), now: now[index]! }));
        const input = { field, rule, pairs, others: now.slice(PAIRS, PAIRS + OTHERS) };
        const begun = performance.now();
        const repaired = repairField(input);
        ms += performance.now() - begun;
        const result = judge(repaired, field, site, parsed);
        gated![result] += 1;
        open![judge(repairField(input, { isGated: false }), field, site, parsed)] += 1;
        if (repaired.kind === "abstained") reasons.set(repaired.reason, (reasons.get(repaired.reason) ?? 0) + 1);
        if (result === "wrong" && repaired.kind === "proposal")
          print(`  wrong: ${site.name} ${field} ${changes.join("+")} ${JSON.stringify(repaired)}`);
      }
    }
    show(`seed ${seed}`, gated!);
  }
  show("with the gate", gated!);
  show("without", open!);
  for (const [reason, count] of reasons) print(`  abstained ${count} times: ${reason}`);
  print(`${total()} rules that broke on ${sites.length} sites, ${(ms / total()).toFixed(0)} ms each`);
  return gated!.right / total() >= 0.9 && gated!.wrong / total() <= 0.02;
}

const none = (): Counts => ({ right: 0, wrong: 0, abstained: 0 });
const inputOf = (html: string): PageInput => ({ body: html, contentType: "text/html; charset=utf-8", url: null });

function show(name: string, { right, wrong, abstained }: Counts): void {
  const all = right + wrong + abstained;
  const percent = (count: number) => `${((100 * count) / all).toFixed(1)} %`;
  print(`${name.padEnd(14)} right ${percent(right)}  wrong ${percent(wrong)}  abstained ${percent(abstained)}`);
}

/** Each seed has one to four kinds of changes. */
function changesOf(seed: number): Change[] {
  const count = 1 + (Math.floor(seed / CHANGES.length) % 4);
  return Array.from({ length: count }, (_, index) => CHANGES[(seed + index * 3) % CHANGES.length]!);
}

class Site {
  readonly name: string;
  readonly pages: { html: string; truth: Record<string, string[]> }[];
  /** Rules that give the right values before the redesign. */
  readonly rules: [field: string, rule: JsonValue][];

  constructor(name: string, path: string) {
    this.name = name;
    const lines = gunzipSync(readFileSync(path)).toString().trim().split("\n");
    this.pages = lines.map((line) => {
      const { html, truth } = JSON.parse(line) as Line;
      const values = Object.entries(truth).map(([field, list]) => [field, list.map((one) => squeeze(decodeHTML(one)))]);
      return { html, truth: Object.fromEntries(values) as Line["truth"] };
    });
    const parsed = this.pages.map(({ html }) => parsePage(inputOf(html)));
    const examples = parsed
      .slice(0, EXAMPLES)
      .map(({ facts }, index) => new LabelledPage(facts, this.pages[index]!.truth));
    this.rules = Object.keys(this.pages[0]!.truth).flatMap((field): [string, JsonValue][] => {
      const learned = learnField(field, examples);
      // Brittle rules, too: people write such.
      const brittle = learned.at(-1);
      return brittle === undefined || f1Of(field, brittle.rule, this, parsed) < GOOD ? [] : [[field, brittle.rule]];
    });
  }
}

function judge(repaired: Repair, field: string, site: Site, parsed: readonly ParsedPage[]): keyof Counts {
  if (repaired.kind === "abstained") return "abstained";
  return f1Of(field, repaired.rule, site, parsed, PAIRS + OTHERS) >= GOOD ? "right" : "wrong";
}

function f1Of(field: string, rule: JsonValue, { pages }: Pick<Site, "pages">, parsed: readonly ParsedPage[], from = 0) {
  const compiled = compileRule(field, rule, field, new Problems());
  let [right, given, wanted] = [0, 0, 0];
  for (const [index, { facts }] of parsed.entries()) {
    if (index < from) continue;
    const value = compiled === null ? null : evaluate(compiled, { facts, element: facts.document.root }).value;
    const values = new Set(
      [value]
        .flat()
        .filter((one) => one !== null)
        .map((one) => squeeze(String(one))),
    );
    const truths = new Set(pages[index]!.truth[field]);
    right += [...values].filter((one) => truths.has(one)).length;
    given += values.size;
    wanted += truths.size;
  }
  return given + wanted === 0 ? 1 : (2 * right) / (given + wanted);
}
