import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Description } from "./fuzz/operations.ts";
import { openPlace } from "./kit.ts";

test("every schema that the API describes itself with is a JSON Schema", async (t) => {
  const place = await openPlace(t);
  const { paths, components } = (await place.get("/openapi.json")).json<Description>();
  const ajv = new Ajv2020({ strict: true, logger: false });
  const checked = [
    ...Object.entries(components?.schemas ?? {}),
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [], requestBody, responses }]) => {
        const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
        const bodies = contents.flatMap((content) => Object.values(content ?? {}).map(({ schema }) => schema ?? {}));
        return [...parameters.map(({ schema }) => schema), ...bodies].map(
          (schema) => [`${method} ${path}`, schema] as const,
        );
      }),
    ),
  ];
  assert.ok(checked.length > 100, "all of them are looked at");
  for (const [where, schema] of checked)
    assert.ok(ajv.validateSchema(schema), `${where}: ${JSON.stringify(ajv.errors)} in ${JSON.stringify(schema)}`);
});
