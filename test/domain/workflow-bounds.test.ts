import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { validateWorkflow } from "../../src/domain/workflow/validate.ts";
import { faults, kinds, step, valid, workflow } from "./workflow-kinds.ts";

test("what is no plain JSON, too large or dangerous is refused", () => {
  assert.deepEqual(
    faults(JSON.parse('{"name":"w","steps":[{"name":"a","task_type":"anything","params":{"__proto__":1}}]}')),
    ["steps[0].params.__proto__: is not allowed as a key"],
  );
  assert.deepEqual(faults(workflow(step("a", { params: { at: new Map(), n: Number.NaN } }))), [
    "steps[0].params.at: is not JSON: an object of a class",
    "steps[0].params.n: is not JSON: NaN",
  ]);
  const circular: Record<string, unknown> = { name: "w" };
  circular["steps"] = [circular];
  assert.deepEqual(faults(circular), [": the definition is nested more than 50 levels deep"]);
  assert.deepEqual(faults(workflow(step("a", { params: { text: "x".repeat(1_100_000) } }))), [
    ": the definition has more than 1048576 characters",
  ]);
  assert.deepEqual(faults(workflow(step("a", { params: { list: Array.from({ length: 50_000 }, () => 1) } }))), [
    ": the definition has more than 50000 values",
  ]);
  assert.deepEqual(
    valid({ ...workflow(step("a", { timeout: undefined })), description: undefined }).steps[0]?.timeout,
    null,
  );
});

test("a thousand steps are allowed, and one more is not", () => {
  const steps = Array.from({ length: 1000 }, (_, index) =>
    step(`s${index}`, { dependencies: index > 0 ? [index - 1] : [] }),
  );
  assert.equal(valid(workflow(...steps)).steps.length, 1000);
  assert.deepEqual(faults(workflow(...steps, step("last"))), ["steps: must have at most 1000 entries"]);
});

test("a definition with thousands of mistakes is answered with the first hundred", () => {
  const steps = Array.from({ length: 1000 }, (_, index) =>
    step(`step ${index} ${"long".repeat(5)}`, {
      dependencies: Array.from({ length: 20 }, (_x, n) => `stop ${index} ${n} ${"lung".repeat(5)}`),
      params: { a: "${{ steps.nowhere }}", b: "${{" },
    }),
  );
  const list = faults(workflow(...steps));
  assert.equal(list.length, 101);
  assert.equal(list.at(-1), ": there are more; correct these first");
});

/** Any graph without circles: each step depends on some of those before it. */
const graphs = fc
  .integer({ min: 1, max: 25 })
  .chain((size) =>
    fc.tuple(
      ...Array.from({ length: size }, (_, index) =>
        fc.uniqueArray(fc.nat({ max: Math.max(0, index - 1) }), { maxLength: index === 0 ? 0 : 4 }),
      ),
    ),
  );
const named = (graph: readonly number[][], byName: boolean) =>
  graph.map((dependencies, index) =>
    step(`s${index}`, { dependencies: dependencies.map((other) => (byName ? `s${other}` : other)) }),
  );

test("any graph without circles is valid, by names as by indices, and comes back as it is", () => {
  fc.assert(
    fc.property(graphs, fc.boolean(), (graph, byName) => {
      const definition = valid(workflow(...named(graph, byName)));
      assert.deepEqual(
        definition.steps.map(({ dependencies }) => dependencies),
        graph,
      );
      assert.deepEqual(valid(definition), definition);
    }),
  );
});

test("any edge that leads forwards is reported, as a circle or as a later step", () => {
  fc.assert(
    fc.property(graphs, fc.nat(), fc.nat(), fc.boolean(), (graph, a, b, byName) => {
      const [from, to] = [a % graph.length, b % graph.length].toSorted((x, y) => x - y) as [number, number];
      const bent = graph.map((dependencies, index) => (index === from ? [...dependencies, to] : dependencies));
      const list = faults(workflow(...named(bent, byName)));
      assert.equal(list.length, 1, list.join("\n"));
      const reaches = (start: number, seen = new Set<number>()): boolean =>
        start === from || (bent[start] ?? []).some((next) => !seen.has(next) && reaches(next, seen.add(next)));
      assert.match(list[0] ?? "", reaches(to) ? /form a cycle: s\d+ → (s\d+ → )*s\d+$/ : /comes later/);
      const way = /form a cycle: (.*)$/.exec(list[0] ?? "")?.[1]?.split(" → ") ?? [];
      for (const [index, name] of way.slice(0, -1).entries()) {
        const next = Number(way[index + 1]?.slice(1));
        assert.ok(bent[Number(name.slice(1))]?.includes(next), `${name} depends on s${next}`);
      }
      assert.equal(way[0], way.at(-1));
    }),
  );
});

test("whatever is handed in, the answer is a definition or a list of faults", () => {
  const near = fc.record(
    {
      name: fc.oneof(fc.string(), fc.jsonValue()),
      params: fc.jsonValue(),
      steps: fc.oneof(
        fc.array(
          fc.record(
            {
              name: fc.oneof(fc.constantFrom("a", "b", "c"), fc.jsonValue()),
              task_type: fc.constantFrom("anything", "wait", "download", 3),
              params: fc.oneof(fc.jsonValue(), fc.constant({ seconds: "${{ steps.a.output.x }}" })),
              dependencies: fc.oneof(fc.array(fc.constantFrom("a", "b", "c", 0, 1, 2, -1, 1.5, null)), fc.jsonValue()),
              when: fc.oneof(fc.string(), fc.jsonValue()),
              for_each: fc.oneof(fc.jsonValue(), fc.record({ in: fc.jsonValue() })),
            },
            { requiredKeys: ["name", "task_type"] },
          ),
          { maxLength: 5 },
        ),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: ["name", "steps"] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), near, fc.anything()), (value) => {
      const { ok, errors } = validateWorkflow(value, kinds);
      if (ok === undefined) assert.ok(errors.length > 0);
      else assert.deepEqual(validateWorkflow(ok, kinds), { ok });
    }),
    { numRuns: 500 },
  );
});
