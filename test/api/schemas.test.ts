import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Description } from "./fuzz/operations.ts";
import { openTestApi } from "./kit.ts";

test("every schema that the API describes itself with is a JSON Schema", async (t) => {
  const served = await openTestApi(t);
  const { paths, components } = (await served.get("/openapi.json")).json<Description>();
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

test("the description of the API is OpenAPI 3.1, says a validator that is not ours, and a mistake would be found", async (t) => {
  const served = await openTestApi(t);
  const { text } = await served.get("/openapi.json");
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, never>);
  assert.deepEqual([valid, errors, validator.version], [true, undefined, "3.1"]);
  const wrong = JSON.parse(text) as Description;
  Object.assign(Object.values(wrong.paths)[0]!, { get: { responses: { "200": {} } } });
  assert.equal((await new Validator().validate({ ...wrong })).valid, false);
});
