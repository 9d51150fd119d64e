import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { read } from "../support/source.ts";
import { examplesOf } from "./markdown.ts";
import { openPlace, typeWhatStandsIn, WHOLE_PAGE } from "./place.ts";

for (const page of ["README.md", "docs/queue.md", "docs/jobs.md", "docs/steps.md", "docs/workflows.md"])
  test(`whoever types what ${page} shows gets what it shows`, WHOLE_PAGE, (t) => typeWhatStandsIn(t, page));

test("the examples in TypeScript have no mistake in their types, and a mistake would be found", async () => {
  await using place = await openPlace();
  const names: string[] = [];
  for (const example of ["docs/queue.md", "docs/steps.md"].flatMap((page) => examplesOf(read(page)))) {
    if (example.kind !== "file") continue;
    writeFileSync(join(place.dir, example.name), example.text);
    names.push(example.name);
  }
  assert.deepEqual(names, ["handlers.ts", "library.ts", "steps.ts", "program.ts"]);
  const check = (files: string[]) => {
    writeFileSync(
      join(place.dir, "tsconfig.examples.json"),
      JSON.stringify({ extends: "./tsconfig.json", include: [], files }),
    );
    return place.run(`node node_modules/typescript/bin/tsc --noEmit -p tsconfig.examples.json`);
  };
  assert.deepEqual(await check(names), { code: 0, output: "" });
  const handlers = readFileSync(join(place.dir, "handlers.ts"), "utf8");
  writeFileSync(join(place.dir, "wrong.ts"), handlers.replace("context.save(page.body", "context.save(page.url"));
  const wrong = await check(["wrong.ts"]);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.output, /wrong\.ts.*'string' is not assignable to parameter of type 'Uint8Array/);
});
