import type { DiskBudget, RetentionRules } from "../../domain/run/retention.ts";
import type { SiteDefaults } from "../../domain/run/waiting.ts";
import type { Random } from "../../base/random.ts";
import type { Seal } from "../../base/seal.ts";
import type { KnownExtractor } from "../../extract/extract-request.ts";
import type { AddressPolicy } from "../../net/address.ts";
import type { KnownKinds } from "../../workflows/step-kind.ts";
import type { OrchestratorDeps } from "../deps.ts";
import type { ProxyRules } from "../proxies/rules.ts";

export interface ExtractorOffers {
  /** There is a model to ask. */
  llm: boolean;
  /** Those of the user's module; found out when somebody first asks. */
  named(): Promise<readonly KnownExtractor[]>;
}

/** What the use cases of jobs, runs and sessions need besides the store. */
export interface JobDeps extends OrchestratorDeps {
  seal: Seal;
  random: Random;
  /** Which addresses may be asked for at all. */
  policy: AddressPolicy;
  /** Whether crawls obey robots.txt that do not say so themselves. */
  respectRobots: boolean;
  /** Times of a schedule are no closer to each other than this. */
  minScheduleMs: number;
  /** Who can be asked to read pages besides the rules. */
  extractors: ExtractorOffers;
  /** What the steps of workflows may be; those of a user's module are found out when somebody first asks. */
  stepKinds: () => Promise<KnownKinds>;
}

export interface RunDeps extends JobDeps {
  /** What holds for a job that says nothing itself. */
  defaultMaxAttempts: number;
  /** What holds for a site of which nothing is said. */
  siteDefaults: SiteDefaults;
  proxyRules: ProxyRules;
  /** How long runs are kept where nobody has asked to keep them. */
  retention: RetentionRules;
  diskBudget: DiskBudget;
}

export interface CrawlDeps extends RunDeps {
  /** How many crawls may be running at once; the others wait. */
  maxConcurrentCrawls: number;
}
