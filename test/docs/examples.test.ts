import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FRUGAL } from "../../scripts/types.mjs";
import { read } from "../support/source.ts";
import { examplesOf } from "./markdown.ts";
import { openWorkspace, typeWhatStandsIn, WHOLE_PAGE } from "./workspace.ts";

test("whoever types what README.md shows gets what it shows", WHOLE_PAGE, (t) => typeWhatStandsIn(t, "README.md"));

for (const page of [
  "docs/queue.md",
  "docs/jobs.md",
  "docs/steps.md",
  "docs/extractors.md",
  "docs/workflows.md",
  "docs/monitors.md",
  "docs/texts.md",
])
  test(`whoever types what ${page} shows gets what it shows [slow]`, WHOLE_PAGE, (t) => typeWhatStandsIn(t, page));

test("the examples in TypeScript have no mistake in their types, and a mistake would be found [slow]", async () => {
  await using workspace = await openWorkspace();
  const names: string[] = [];
  for (const example of ["docs/queue.md", "docs/steps.md", "docs/extractors.md"].flatMap((page) =>
    examplesOf(read(page)),
  )) {
    if (example.kind !== "file") continue;
    writeFileSync(join(workspace.dir, example.name), example.text);
    names.push(example.name);
  }
  assert.deepEqual(names, ["handlers.ts", "library.ts", "steps.ts", "program.ts", "extractors.ts", "words.ts"]);
  const handlers = readFileSync(join(workspace.dir, "handlers.ts"), "utf8");
  writeFileSync(join(workspace.dir, "wrong.ts"), handlers.replace("context.save(page.body", "context.save(page.url"));
  const files = [...names, "wrong.ts"];
  writeFileSync(
    join(workspace.dir, "tsconfig.examples.json"),
    JSON.stringify({ extends: "./tsconfig.json", include: [], files }),
  );
  const words = ["--noEmit", "--pretty", "false", "--project", "tsconfig.examples.json", ...FRUGAL.words];
  const { code, output } = await workspace.run(
    `GOGC=${FRUGAL.env.GOGC} node node_modules/typescript/bin/tsc ${words.join(" ")}`,
  );
  assert.notEqual(code, 0);
  const mistakes = output.split("\n").filter((line) => /^\S/.test(line));
  assert.equal(mistakes.length, 1, output);
  assert.match(mistakes[0]!, /^wrong\.ts.*'string' is not assignable to parameter of type 'Uint8Array/);
});
