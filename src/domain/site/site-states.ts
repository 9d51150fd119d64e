/** `paused` by the operator; `blocked`: its breaker is open; with work and neither of them it is `waiting` or `active`. */
export const SITE_STATES = ["active", "waiting", "paused", "blocked"] as const;
export type SiteState = (typeof SITE_STATES)[number];
