import type { TestContext } from "node:test";
import { systemRandom } from "../../src/base/random.ts";
import { createSeal } from "../../src/base/seal.ts";
import type { Credentials } from "../../src/domain/text/credentials.ts";
import type { Recipe } from "../../src/domain/run/recipe.ts";
import { PUBLIC_ONLY } from "../../src/net/address.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import { changeJob, createJob } from "../../src/orchestrator/jobs/manage.ts";
import { SEALED_FOR_JOB } from "../../src/pages/access.ts";
import { openOrchestrator } from "./kit.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";

export const HOUR = 3_600_000;
export const PAGE = "https://a.example/";

/** An orchestrator for creating and changing jobs; its clock stands at a full hour. */
export async function openJobs(t: TestContext) {
  const orchestrator = await openOrchestrator(t);
  const deps = {
    ...orchestrator,
    random: systemRandom,
    seal: createSeal("a key that only tests know"),
    policy: PUBLIC_ONLY,
    defaultMaxAttempts: 3,
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    proxyRules: PROXY_RULES,
    maxConcurrentCrawls: 5,
    retention: { temporaryMs: 86_400_000, keepRuns: 0, keepDays: 0 },
    diskBudget: { bytes: 0, action: "warn" as const },
    respectRobots: true,
    minScheduleMs: 1000,
    extractors: { llm: false, named: async () => [] },
    stepKinds: async () => ({ find: () => undefined, all: () => [] }),
  };
  // A full hour, so that the slots are easy to name.
  await orchestrator.clock.advance(HOUR - (orchestrator.clock.now() % HOUR));
  return {
    ...deps,
    deps,
    otherKey: { ...deps, seal: createSeal("another key that only tests know") },
    make: (input: JobInput = {}) => createJob(deps, { target_url: PAGE, ...input }),
    change: (id: string, change: JobInput) => changeJob(deps, id, change),
    /** What is sealed in the job, read with the key it was made under. */
    secrets: async (id: string) => {
      const { sealed } = (await orchestrator.store.job(id))!.recipe as Recipe;
      return sealed === null ? null : (deps.seal.open(Buffer.from(sealed, "base64"), SEALED_FOR_JOB) as Credentials);
    },
  };
}
