import type { Config } from "../../config/options.ts";
import type { LaneRules } from "../../lanes/rules.ts";

/** The configured limits of sites and retry rules. */
export function laneRules(config: Config): LaneRules {
  return {
    maxPerSite: config.maxPerHost,
    minDelayMs: config.minHostDelayMs,
    breaker: { failures: config.breakerFailures, cooldownMs: config.breakerCooldownMs },
    retry: {
      backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs },
      maxAttempts: config.defaultMaxAttempts,
      retryAfterMaxMs: config.retryAfterMaxMs,
      rateLimitMaxWaits: config.rateLimitMaxWaits,
    },
    maxPerResolver: config.maxPerConcurrencyKey,
  };
}
