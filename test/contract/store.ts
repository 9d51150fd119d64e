import { describe, test } from "node:test";
import { budgetScenarios } from "./store/budgets.ts";
import { claimScenarios } from "./store/claim.ts";
import { engineScenarios } from "./store/engine.ts";
import { enqueueScenarios } from "./store/enqueue.ts";
import { Kit, type MakeHarness, type Scenario } from "./store/kit.ts";
import { laneScenarios } from "./store/lanes.ts";
import { readScenarios } from "./store/read.ts";
import { runScenarios } from "./store/runs.ts";
import { settleScenarios } from "./store/settle.ts";
import { siteScenarios } from "./store/sites.ts";

/** What every store promises, whichever database it stands on. An implementation runs all of it. */
export function storeContract(name: string, makeHarness: MakeHarness): void {
  const group = (subject: string, scenarios: (scenario: Scenario) => void) => {
    describe(`${name}: ${subject}`, () => {
      scenarios((title, body) => {
        test(title, async () => {
          const harness = await makeHarness();
          try {
            const kit = new Kit(await harness.open(), harness);
            await body(kit);
            await kit.expectClean();
          } finally {
            await harness.close();
          }
        });
      });
    });
  };
  group("runs", runScenarios);
  group("enqueueing", enqueueScenarios);
  group("the engine lock", engineScenarios);
  group("lanes", laneScenarios);
  group("claiming", claimScenarios);
  group("settling", settleScenarios);
  group("budgets", budgetScenarios);
  group("sites", siteScenarios);
  group("reading", readScenarios);
}
