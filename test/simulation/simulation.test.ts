import assert from "node:assert/strict";
import { test } from "node:test";
import { runScenario } from "./scenario.ts";

// A failing seed is repeated with: npm run simulate -- --seed N
const SEEDS = process.env["ORB_TEST_FULL"] === "1" ? 10_000 : 600;
const PER_TEST = 250;

for (let first = 1; first <= SEEDS; first += PER_TEST) {
  const last = first + PER_TEST - 1;
  test(`schedules ${first} to ${last} of crashes, freezes and clock jumps lose nothing, double nothing and keep every limit`, async () => {
    let crashes = 0;
    for (let seed = first; seed <= last; seed += 1) {
      try {
        crashes += (await runScenario(seed)).crashes;
      } catch (error) {
        throw new Error(`seed ${seed} failed; repeat it with: npm run simulate -- --seed ${seed}`, { cause: error });
      }
    }
    assert.ok(crashes > PER_TEST, `the schedules must really crash: ${crashes} crashes`);
  });
}
