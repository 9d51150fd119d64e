import type { BreakerRule } from "../domain/lane/circuit.ts";
import type { RetryRules } from "../domain/run/outcome.ts";

/** The configured limits of a worker; a site's settings override the per-site ones. */
export interface LaneRules {
  maxPerSite: number;
  minDelayMs: number;
  breaker: BreakerRule;
  retry: RetryRules;
  /** Cap per resolver; others have none. */
  maxPerResolver: Readonly<Record<string, number>>;
}
