import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { TestServer } from "../jobs/kit.ts";
import { tempDir } from "../support/temp-dir.ts";

const MODULE = `export const steps = [{
  kind: "double",
  about: "doubles a number",
  params: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false },
  run: (_, { n }) => ({ twice: n * 2 }),
}];`;

function moduleWith(t: TestContext, text: string): string {
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  const path = join(dir.path, "steps.mjs");
  writeFileSync(path, text);
  return path;
}

const definition = (params: object) => ({
  name: "numbers",
  steps: [{ name: "double", task_type: "double", params }],
});

test("a server that does no work knows the user's kinds; a worker that starts later executes them", async (t) => {
  await using server = await TestServer.open({ APP_HANDLERS: moduleWith(t, MODULE) }, { worker: false });
  const kinds = (await server.api.get("/workflows/step-kinds")).json<{ kind: string; about: string }[]>();
  const double = kinds.find(({ kind }) => kind === "double");
  assert.equal(double?.about, "doubles a number");
  const validate = async (params: object) =>
    (await server.api.post("/workflows/validate", { definition: definition(params) })).json<{
      valid: boolean;
      errors: { path: string }[];
    }>();
  assert.deepEqual(await validate({ n: 2 }), { valid: true, errors: [] });
  const wrong = await validate({ n: "two" });
  assert.deepEqual(
    wrong.errors.map(({ path }) => path),
    ["definition.steps[0].params.n"],
  );
  const created = await server.api.post("/workflows", { definition: definition({ n: 21 }) });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json<{ id: string }>();
  await server.stop();
  await server.start();
  assert.equal((await server.ended(id)).status, "completed");
  const [task] = (await server.api.get(`/workflows/${id}/tasks`)).json<{ result: unknown }[]>();
  assert.deepEqual(task?.result, { twice: 42 });
});

test("a server refuses to start with a module whose kinds are wrong, or have the name of one that is built in", async (t) => {
  const refused = async (text: string) => {
    let said = "";
    await assert.rejects(TestServer.open({ APP_HANDLERS: moduleWith(t, text) }, { worker: false }), (error) => {
      assert.ok(isOrbError(error, "handlers_invalid"));
      said = error.message;
      return true;
    });
    return said;
  };
  assert.match(await refused(MODULE.replace('"double"', '"download"')), /the step kind download is built in/);
  assert.match(await refused(MODULE.replace('"number"', '"numbr"')), /steps\.double\.params.*\/properties\/n\/type/);
});
