import assert from "node:assert/strict";
import { test } from "node:test";
import { runScenario } from "./scenario.ts";

// A failing seed is repeated with: npm run simulate -- --seed N
const SEEDS = process.env["ORB_TEST_FULL"] === "1" ? 10_000 : 2000;

test(`${SEEDS} schedules of crashes, freezes and clock jumps lose nothing, double nothing and keep every limit`, async () => {
  let crashes = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    try {
      crashes += (await runScenario(seed)).crashes;
    } catch (error) {
      throw new Error(`seed ${seed} failed; repeat it with: npm run simulate -- --seed ${seed}`, { cause: error });
    }
  }
  assert.ok(crashes > SEEDS, `the schedules must really crash: ${crashes} crashes`);
});
