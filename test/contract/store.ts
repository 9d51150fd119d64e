import { describe, test } from "node:test";
import { alertScenarios } from "./store/alerts.ts";
import { budgetScenarios } from "./store/budgets.ts";
import { cancelScenarios } from "./store/cancel.ts";
import { claimScenarios } from "./store/claim.ts";
import { dependScenarios } from "./store/depends.ts";
import { dutyScenarios } from "./store/duties.ts";
import { engineScenarios } from "./store/engine.ts";
import { enqueueScenarios } from "./store/enqueue.ts";
import { feedScenarios } from "./store/feed.ts";
import { frontierScenarios } from "./store/frontier.ts";
import { groupScenarios } from "./store/groups.ts";
import { growthScenarios } from "./store/growth.ts";
import { limitScenarios } from "./store/limits.ts";
import { holdScenarios } from "./store/holds.ts";
import { humanScenarios } from "./store/human.ts";
import { jobScenarios } from "./store/jobs.ts";
import { Kit, type MakeHarness, type Scenario } from "./store/kit.ts";
import { laneScenarios } from "./store/lanes.ts";
import { liveScenarios } from "./store/live.ts";
import { onceScenarios } from "./store/once.ts";
import { pageCopyScenarios } from "./store/page-copies.ts";
import { pageStateScenarios } from "./store/page-states.ts";
import { progressScenarios } from "./store/progress.ts";
import { proxyScenarios } from "./store/proxies.ts";
import { readScenarios } from "./store/read.ts";
import { reportScenarios } from "./store/report.ts";
import { retentionScenarios } from "./store/retention.ts";
import { robotsScenarios } from "./store/robots.ts";
import { runListScenarios } from "./store/run-lists.ts";
import { runScenarios } from "./store/runs.ts";
import { sessionScenarios } from "./store/sessions.ts";
import { settleScenarios } from "./store/settle.ts";
import { shardScenarios } from "./store/shards.ts";
import { siteScenarios } from "./store/sites.ts";
import { slotScenarios } from "./store/slots.ts";
import { startScenarios } from "./store/start.ts";
import { stopScenarios } from "./store/stop-task.ts";
import { twiceScenarios } from "./store/twice.ts";
import { webhookScenarios } from "./store/webhooks.ts";
import { workerScenarios } from "./store/workers.ts";
import { workflowListScenarios } from "./store/workflow-lists.ts";
import { workflowRecoveryScenarios } from "./store/workflow-recovery.ts";
import { workflowItemScenarios } from "./store/workflow-items.ts";
import { workflowDeletionScenarios } from "./store/workflow-deletion.ts";
import { workflowSleepScenarios } from "./store/workflow-sleep.ts";
import { workflowScenarios } from "./store/workflows.ts";
import { yieldScenarios } from "./store/yields.ts";

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
            if (harness.audited !== false) await kit.expectClean();
          } finally {
            await harness.close();
          }
        });
      });
    });
  };
  group("runs", runScenarios);
  group("workflows", workflowScenarios);
  group("steps that sleep", workflowSleepScenarios);
  group("lists of steps", workflowItemScenarios);
  group("workflows that are recovered", workflowRecoveryScenarios);
  group("what is told of workflows", workflowListScenarios);
  group("enqueueing", enqueueScenarios);
  group("the engine lock", engineScenarios);
  group("lanes", laneScenarios);
  group("claiming", claimScenarios);
  group("settling", settleScenarios);
  group("what is done twice", twiceScenarios);
  group("budgets", budgetScenarios);
  group("sites", siteScenarios);
  group("groups of sites", groupScenarios);
  group("sites in shards", shardScenarios);
  group("sites that need others", dependScenarios);
  group("proxies", proxyScenarios);
  group("robots.txt", robotsScenarios);
  group("reading", readScenarios);
  group("how runs are getting on", progressScenarios);
  group("what is watched", liveScenarios);
  group("lists that are narrowed", runListScenarios);
  group("jobs", jobScenarios);
  group("starting runs", startScenarios);
  group("times of schedules", slotScenarios);
  group("calls that are repeated", onceScenarios);
  group("events", feedScenarios);
  group("reports", reportScenarios);
  group("waiting for a person", humanScenarios);
  group("runs that wait for something else", holdScenarios);
  group("cancelling", cancelScenarios);
  group("stopping tasks", stopScenarios);
  group("webhooks", webhookScenarios);
  group("workers", workerScenarios);
  group("files and records", yieldScenarios);
  group("runs that grow", growthScenarios);
  group("limits of crawls, and turns", limitScenarios);
  group("pages that a crawl meets twice, and its time", frontierScenarios);
  group("what is kept no longer", retentionScenarios);
  group("workflows that are deleted", workflowDeletionScenarios);
  group("copies of pages", pageCopyScenarios);
  group("what is known of pages", pageStateScenarios);
  group("sessions", sessionScenarios);
  group("duties", dutyScenarios);
  group("alerts", alertScenarios);
}
