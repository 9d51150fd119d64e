import assert from "node:assert/strict";
import { test } from "node:test";
import { FILTER_REASONS, PRESETS, QUALITY_SCHEMAS } from "../../src/workflows/texts/quality-rules.ts";
import { TEXT_SCHEMAS } from "../../src/workflows/texts/deduplicate-texts.ts";
import { filterStep } from "../../src/workflows/steps/filter.ts";
import { read } from "../support/source.ts";

const page = read("docs/texts.md");
const rows = (section: string, head: string) => {
  const [, below = ""] = page.slice(page.indexOf(`\n## ${section}\n`)).split(head);
  return (below.split("\n\n")[0] ?? "")
    .split("\n")
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
};

test("docs/texts.md explains every reason of filter, in the order in which rules apply", () => {
  const [, below = ""] = page.split("| reason | why the item was dropped |\n|---|---|\n");
  const told = [...below.matchAll(/^\| `(.*?)` \| (.*) \|$/gm)].map(([, name, text]) => [name, text]);
  assert.deepEqual(told, Object.entries(FILTER_REASONS));
});

test("docs/texts.md names every rule of filter, with the limits of the presets", () => {
  const told = rows("filter", "| rule | gopher | fineweb | |").map(([, rule, gopher, fineweb]) => [
    rule,
    gopher,
    fineweb,
  ]);
  const limit = (preset: Record<string, number>, rule: string) => String(preset[rule] ?? "");
  const real = Object.keys(QUALITY_SCHEMAS).map((rule) => [
    rule,
    limit(PRESETS.gopher, rule),
    limit(PRESETS.fineweb, rule),
  ]);
  assert.deepEqual(told, real);
});

test("docs/texts.md names every param of the steps for texts", () => {
  const names = (section: string) =>
    rows(section, "| param | |")
      .map(([, name]) => name)
      .toSorted();
  assert.deepEqual(names("deduplicate"), [...Object.keys(TEXT_SCHEMAS), "distance", "keep"].toSorted());
  const { properties } = filterStep.params as { properties: object };
  const rules = new Set(Object.keys(QUALITY_SCHEMAS));
  assert.deepEqual(
    names("filter"),
    Object.keys(properties)
      .filter((name) => !rules.has(name))
      .toSorted(),
  );
});
