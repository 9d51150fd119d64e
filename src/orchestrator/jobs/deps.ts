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
  /** Extractors of the user's module; loaded on first use. */
  named(): Promise<readonly KnownExtractor[]>;
}

/** Dependencies of the use cases of jobs, runs and sessions, besides the store. */
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
  /** The known step kinds; those of a user's module are loaded on first use. */
  stepKinds: () => Promise<KnownKinds>;
}

export interface RunDeps extends JobDeps {
  /** Default of jobs. */
  defaultMaxAttempts: number;
  /** Default of sites. */
  siteDefaults: SiteDefaults;
  proxyRules: ProxyRules;
  /** Retention of runs without a policy. */
  retention: RetentionRules;
  diskBudget: DiskBudget;
}

export interface CrawlDeps extends RunDeps {
  /** How many crawls may be running at once; the others wait. */
  maxConcurrentCrawls: number;
}
