import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { completeParams } from "../../src/domain/workflow/params-check.ts";
import { BUILT_IN_TEMPLATES } from "../../src/workflows/templates/registry.ts";
import { read, tableBelow } from "../support/source.ts";

const page = read("docs/workflows-templates.md");

interface ParamsSchema {
  properties: Record<string, { default?: JsonValue }>;
  required?: string[];
}

for (const [name, definition] of BUILT_IN_TEMPLATES) {
  const { params } = definition as unknown as { params: ParamsSchema };

  test(`docs/workflows-templates.md, ${name}: every param, and its default`, () => {
    const told = tableBelow(page, `## ${name}`).map(([param = "", value = "", about = ""]) => {
      assert.notEqual(about, "", `${param} is explained`);
      return [param.replaceAll("`", ""), value.replace(/^`|`$/g, "")];
    });
    const real = Object.entries(params.properties).map(([param, { default: value }]) => [
      param,
      value === undefined ? "required" : JSON.stringify(value),
    ]);
    assert.deepEqual(told, real);
  });

  test(`docs/workflows-templates.md, ${name}: its example is taken`, () => {
    const section = page.slice(page.indexOf(`\n## ${name}\n`));
    const example = JSON.parse(/```json\n([^]*?)```/.exec(section)?.[1] ?? "") as Record<string, JsonValue>;
    const source = (example["workflow"] ?? example) as { template: string; params: Record<string, JsonValue> };
    assert.equal(source.template, name);
    assert.deepEqual(completeParams(params as unknown as JsonValue, source.params).errors, undefined);
  });
}
