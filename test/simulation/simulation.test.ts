import assert from "node:assert/strict";
import { test } from "node:test";
import { runCrawlScenario } from "./crawl-scenario.ts";
import { runScenario, type ScenarioReport } from "./scenario.ts";
import { FULL } from "../support/gate.ts";

/** Plays schedules in portions. A failing seed is repeated with the command that the failure names. */
function play(
  what: string,
  options: string,
  seeds: number,
  perTest: number,
  run: (seed: number) => Promise<ScenarioReport>,
) {
  for (let first = 1; first <= seeds; first += perTest) {
    const last = Math.min(seeds, first + perTest - 1);
    const tier = first === 1 ? "" : " [slow]";
    test(`schedules ${first} to ${last} of ${what}${tier}`, async () => {
      let crashes = 0;
      for (let seed = first; seed <= last; seed += 1) {
        try {
          crashes += (await run(seed)).crashes;
        } catch (error) {
          const command = `npm run simulate -- ${options}--seed ${seed}`;
          throw new Error(`seed ${seed} failed; repeat it with: ${command}`, { cause: error });
        }
      }
      assert.ok(crashes > last - first, `the schedules must really crash: ${crashes} crashes`);
    });
  }
}

play(
  "crashes, freezes and clock jumps lose nothing, double nothing and keep every limit",
  "",
  FULL ? 10_000 : 60,
  20,
  runScenario,
);
play(
  "a crawl through crashes, failures and redirects end with every page that can be reached, once",
  "--crawls ",
  FULL ? 5_000 : 20,
  8,
  runCrawlScenario,
);
