/** An operator's settings for fetching pages of a site; they apply to every run. */
import type { RunEvent } from "../run/outcome.ts";
import type { Recipe, StrategyName } from "../run/recipe.ts";

/** Null: as the run says. */
export interface SiteOptions {
  strategy: StrategyName | null;
  respectRobots: boolean | null;
}

/**
 * The way that the site's setting asks for; null: it has none for this recipe. A run that asks for a way itself gets it,
 * and only a recipe that brings the call along can replay one.
 */
export function strategyOfSite(
  recipe: Pick<Recipe, "strategy" | "replay">,
  site: Pick<SiteOptions, "strategy"> | null,
): Exclude<StrategyName, "auto"> | null {
  const strategy = site?.strategy ?? "auto";
  if (recipe.strategy !== "auto" || strategy === "auto") return null;
  return strategy === "api_replay" && recipe.replay === null ? null : strategy;
}

/** The recipe as it holds at this site. */
export function recipeAt(recipe: Recipe, site: SiteOptions | null): Recipe {
  const strategy = strategyOfSite(recipe, site) ?? recipe.strategy;
  return { ...recipe, strategy, respect_robots: site?.respectRobots ?? recipe.respect_robots };
}

/** What the run's log says when the site's setting decides about robots.txt against the run; null: it does not. */
export function robotsOverride(asked: boolean, site: (SiteOptions & { site: string }) | null): RunEvent | null {
  const obeys = site?.respectRobots ?? asked;
  if (site === null || obeys === asked) return null;
  const message = obeys
    ? `robots.txt of ${site.site} is obeyed, although the run ignores it: respect_robots of the site is true`
    : `robots.txt of ${site.site} is not obeyed, although the run requests it: respect_robots of the site is false`;
  const meta = { site: site.site, respect_robots: obeys, asked };
  return { type: "robots.overridden", level: obeys ? "info" : "warn", message, meta };
}
