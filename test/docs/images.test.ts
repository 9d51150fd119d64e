import assert from "node:assert/strict";
import { test } from "node:test";
import { REFUSALS, RULES_SCHEMA } from "../../src/workflows/file-rules.ts";
import { read } from "../support/source.ts";

const page = read("docs/images.md");
const rows = (heading: string) => {
  const [, below = ""] = page.split(heading);
  return [...(below.split("\n\n")[0] ?? "").matchAll(/^\| (`.*?) \| (.*) \|$/gm)].map(([, name = "", text = ""]) => ({
    names: [...name.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word),
    text,
  }));
};

test("docs/images.md explains every reason to refuse a file, in the order in which they are looked for", () => {
  const told = rows("| reason | what is wrong with the file |").map(({ names, text }) => [names[0], text]);
  assert.deepEqual(told, Object.entries(REFUSALS));
});

test("docs/images.md names every param of validate", () => {
  const { properties } = RULES_SCHEMA as { properties: object };
  const told = rows("\n\n| param | |");
  assert.deepEqual(told.flatMap(({ names }) => names).sort(), Object.keys(properties).sort());
});
