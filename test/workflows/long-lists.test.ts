import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createSeal } from "../../src/base/seal.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { expandList, type ListWork } from "../../src/lanes/handlers/step/step-for-each.ts";
import type { StepDeps } from "../../src/lanes/handlers/step/step-deps.ts";
import { countTurns } from "../support/turns.ts";

test("a long list is added in small parts, and others have their turn between any two of them", async (t) => {
  const turns = countTurns(t);
  const list = Array.from({ length: 5000 }, (_, n) => `https://a.example/${n}`);
  const parts: { first: number; size: number; turn: number }[] = [];
  const added: JsonValue[] = [];
  const store = {
    addStepItems: async (_hold: unknown, _task: unknown, part: { first: number; values: readonly JsonValue[] }) => {
      parts.push({ first: part.first, size: part.values.length, turn: turns() });
      added.push(...part.values);
      return true;
    },
  };
  const forEach = { in: "${{ params.list }}", concurrency: 4, on_error: "finish" };
  const run = {
    step: () => ({ name: "each", for_each: forEach }),
    openedControl: () => ({ when: null, for_each: forEach }),
    definition: { params: null },
    params: { list },
  };
  const deps = { store, clock: systemClock, seal: createSeal("a key that only tests know") } as unknown as StepDeps;
  const work = { run, before: { outputs: {}, results: new Map() }, payload: { step: 0 }, signal: t.signal };
  const end = await expandList(deps, work as unknown as ListWork);
  assert.equal(end.kind, "wait");
  assert.deepEqual(added, list);
  assert.ok(parts.every(({ size }) => size <= 200));
  assert.equal(new Set(parts.map(({ turn }) => turn)).size, parts.length, "each in a turn of its own");
});
