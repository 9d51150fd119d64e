/**
 * Which strategy fetches a page, and why. Deterministic: the same recipe, memory and site knowledge give the same plan,
 * and the evidence says which of them decided.
 */
import type { Failure } from "../run/failure.ts";
import { isKnown } from "./learned.ts";
import { browserNeeds } from "./page-options.ts";
import type { Recipe } from "../run/recipe.ts";
import type { LearnedStrategy } from "../run/run-facts.ts";
import { type SiteOptions, strategyOfSite } from "../site/site-options.ts";

export type Way = "http" | "browser" | "api_replay";

export interface StrategyEvidence {
  /** What decided. */
  rule: "requires_auth" | "needed" | "explicit" | "site" | "learned" | "probe" | "escalated" | "document";
  because: string;
  /** Status of the probe, or of the block before. */
  http_status?: number | null;
  /** The marker found on the page. */
  sign?: string;
  /** Expiry of learned knowledge. */
  expires_at?: string;
}

export interface StrategyPlan {
  way: Way;
  /** The first fetch is a probe: if the page needs a browser, one follows in the same attempt. */
  probe: boolean;
  evidence: StrategyEvidence;
}

/** State that an attempt leaves for the next one. */
export interface PageMemory {
  way: Way;
  evidence: StrategyEvidence;
  /** Browser crashes with this page open since its last progress. */
  crashes?: number;
}

/** What was learned about the site, and its configured strategy. */
export type SiteKnowledge = Pick<SiteOptions, "strategy"> & { learned: LearnedStrategy | null };

export function planStrategy(
  recipe: Pick<Recipe, "strategy" | "requires_auth" | "replay"> & Partial<Pick<Recipe, "browser" | "document">>,
  memory: PageMemory | null,
  site: SiteKnowledge | null,
  url: string,
  now: number,
): StrategyPlan {
  // A run keeps the strategy it escalated to.
  if (memory !== null) return { way: memory.way, probe: false, evidence: memory.evidence };
  if (recipe.requires_auth) return decided("browser", { rule: "requires_auth", because: "requires_auth is set" });
  const needed = recipe.strategy === "browser" ? null : browserNeeds(recipe);
  if (needed !== null) return decided("browser", { rule: "needed", because: needed });
  if (recipe.strategy !== "auto")
    return decided(recipe.strategy, { rule: "explicit", because: `the strategy is set to ${recipe.strategy}` });
  const configured = strategyOfSite(recipe, site);
  if (configured !== null)
    return decided(configured, { rule: "site", because: `the strategy of the site is set to ${configured}` });
  const learned = site?.learned ?? null;
  if (learned !== null && isKnown(learned, url, now)) {
    const what = learned.scope === "site" ? "the site" : "this page";
    const because = `${what} was found to need a browser: ${learned.reason}`;
    return decided("browser", { rule: "learned", because, expires_at: learned.expires_at });
  }
  return { way: "http", probe: true, evidence: { rule: "probe", because: "nothing is known about the site yet" } };
}

function decided(way: Way, evidence: StrategyEvidence): StrategyPlan {
  return { way, probe: false, evidence };
}

/** The strategy to escalate to after this failure; null: none. */
export function escalationOf(way: Way, what: Failure): "browser" | null {
  if (way === "browser" || what.code !== "blocked" || what.reason === "human_skipped") return null;
  return "browser";
}
