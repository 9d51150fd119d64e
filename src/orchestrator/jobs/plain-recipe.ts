import type { Recipe, StrategyName } from "../../domain/recipe.ts";

/** The recipe of somebody who only names a page. */
export function plainRecipe(strategy: StrategyName, more: Partial<Recipe> = {}): Recipe {
  return {
    strategy,
    requires_auth: false,
    fields: null,
    items: null,
    schema: null,
    max_attempts: null,
    escalate: true,
    respect_robots: false,
    timeout_seconds: null,
    session_id: null,
    replay: null,
    browser: null,
    schedule: null,
    timezone: null,
    header_names: [],
    cookie_names: [],
    sealed: null,
    ...more,
  };
}
