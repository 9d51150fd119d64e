import type { TestContext } from "node:test";
import type { ApiDeps } from "../../src/api/deps.ts";
import type { Clock } from "../../src/base/clock.ts";
import { OrbError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { createSeal } from "../../src/base/seal.ts";
import { loadConfig } from "../../src/config/load.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { createPageTools } from "../../src/app/page-tools.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { kindSettings } from "../support/kind-settings.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";

/** What jobs, sessions and previews need; no address but those allowed is ever asked. */
export function pageDeps(
  t: TestContext,
  { store, clock, allow }: { store: Store; clock: Clock; allow?: string },
): Pick<
  ApiDeps,
  | "seal"
  | "policy"
  | "defaultMaxAttempts"
  | "maxConcurrentCrawls"
  | "retention"
  | "diskBudget"
  | "respectRobots"
  | "minScheduleMs"
  | "stepKinds"
  | "extractors"
  | "siteDefaults"
  | "pages"
  | "proxyRules"
  | "listFetcher"
  | "openArtifact"
> {
  const env = allow === undefined ? {} : { APP_ALLOW_PRIVATE_NETWORKS: allow };
  const { config } = loadConfig({ env, cwd: "/" });
  const log = createLog({ level: "error", pretty: false, write: () => {} });
  const policy = parseAddressPolicy(config.allowPrivateNetworks);
  const pages = createPageTools(config, log, { clock, store, policy });
  t.after(() => pages.close());
  return {
    seal: createSeal("a key that only tests know"),
    policy,
    defaultMaxAttempts: 3,
    proxyRules: PROXY_RULES,
    maxConcurrentCrawls: 5,
    retention: { temporaryMs: 86_400_000, keepRuns: 0, keepDays: 0 },
    diskBudget: { bytes: 0, action: "warn" as const },
    respectRobots: true,
    minScheduleMs: 1000,
    extractors: { llm: false, named: async () => [] },
    stepKinds: async () => createStepKinds(kindSettings, []),
    siteDefaults: { maxPerSite: 10, minDelayMs: 0 },
    pages: async () => pages,
    listFetcher: async () => pages.http,
    openArtifact: () => {
      throw new OrbError("not_found", "there is no artifact with that hash");
    },
  };
}
