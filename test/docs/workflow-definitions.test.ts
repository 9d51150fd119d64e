import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { evaluate } from "../../src/domain/workflow/expression-evaluate.ts";
import { parseExpression } from "../../src/domain/workflow/expression-parse.ts";
import { Work } from "../../src/domain/workflow/expression-values.ts";
import { readDefinitionText } from "../../src/domain/workflow/read-text.ts";
import { validateWorkflow } from "../../src/domain/workflow/validate.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { kindSettings } from "../support/kind-settings.ts";
import { read, root, tableBelow } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

const page = read("docs/workflow-definitions.md");
const known = createStepKinds(kindSettings, []);
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? "";

test("the definition that docs/workflow-definitions.md shows can be used", () => {
  const { ok, errors } = validateWorkflow(readDefinitionText(block("yaml")).ok, known);
  assert.equal(errors, undefined);
  assert.deepEqual(
    ok?.steps.map(({ dependencies }) => dependencies),
    [[], [0], [1]],
  );
});

test("the workflow in TypeScript that docs/workflow-definitions.md shows can be used", async () => {
  using folder = tempDir();
  const file = join(folder.path, "cats.ts");
  writeFileSync(
    file,
    block("ts").replace('"orbweaver"', JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)),
  );
  const { default: source } = (await import(pathToFileURL(file).href)) as { default: unknown };
  const { ok, errors } = validateWorkflow(source, known);
  assert.equal(errors, undefined);
  assert.deepEqual(
    ok?.steps.map(({ dependencies }) => dependencies),
    [[], [0], [1, 0]],
  );
});

test("the expressions that docs/workflow-definitions.md shows give what it says", () => {
  const scope = {
    params: { urls: ["a", "b"], label: "cats" },
    steps: { list: { output: { count: 3, pages: [{ url: "x" }, { url: "y" }] } } },
  };
  const rows = tableBelow(page, "### Examples").map((cells) => cells.map((cell) => cell.replaceAll("`", "")));
  assert.equal(rows.length, 9);
  for (const [text = "", gives = ""] of rows)
    assert.deepEqual(evaluate(parseExpression(text), scope, new Work()), JSON.parse(gives), text);
});
