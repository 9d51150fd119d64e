import type { ProxyRules } from "../../src/orchestrator/proxies/rules.ts";

/** What tests configure about proxies that are about something else: nothing is checked by itself. */
export const PROXY_RULES: ProxyRules = {
  atLeast: 1,
  waitMs: 60_000,
  shortage: "use_fewer",
  checkUrl: null,
  checkTimeoutMs: 1000,
  refreshEveryMs: 0,
  chunksAtOnce: 4,
};
