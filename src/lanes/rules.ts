import type { BreakerRule } from "../domain/lane/circuit.ts";
import type { RetryRules } from "../domain/run/outcome.ts";

/** The configured manners of a worker; a site's own limits override the per-site ones. */
export interface LaneRules {
  maxPerSite: number;
  minDelayMs: number;
  breaker: BreakerRule;
  retry: RetryRules;
  /** Cap per resolver; resolvers that are not named have none. */
  maxPerResolver: Readonly<Record<string, number>>;
}
