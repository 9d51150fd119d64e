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
  /** A model is configured. */
  llm: boolean;
  /** Extractors of the user's module; loaded on first use. */
  named(): Promise<readonly KnownExtractor[]>;
}

/** Dependencies of the use cases of jobs, runs and sessions, besides the store. */
export interface JobDeps extends OrchestratorDeps {
  seal: Seal;
  random: Random;
  /** Which URLs may be requested. */
  policy: AddressPolicy;
  /** Whether crawls obey robots.txt by default. */
  respectRobots: boolean;
  /** Minimum interval of schedules. */
  minScheduleMs: number;
  /** Extractors available besides the rules. */
  extractors: ExtractorOffers;
  /** Known step kinds; those of a user's module are loaded on first use. */
  stepKinds: () => Promise<KnownKinds>;
}

export interface RunDeps extends JobDeps {
  /** Default of jobs. */
  defaultMaxAttempts: number;
  /** Default of sites. */
  siteDefaults: SiteDefaults;
  proxyRules: ProxyRules;
  /** Retention of runs without their own policy. */
  retention: RetentionRules;
  diskBudget: DiskBudget;
}

export interface CrawlDeps extends RunDeps {
  /** Maximum of running crawls; others wait. */
  maxConcurrentCrawls: number;
}
