import { wantsPool } from "../../domain/proxy/proxy-options.ts";
import { leastOf, type ShortageRules } from "../../domain/run/run-hold.ts";
import type { NewRun } from "../../store/ports/port.ts";

/** Configuration of proxies. */
export interface ProxyRules extends ShortageRules {
  waitMs: number;
  /** URL that checks fetch through a proxy; null: only reachability is checked. */
  checkUrl: string | null;
  checkTimeoutMs: number;
  /** 0: no periodic checks. */
  refreshEveryMs: number;
  /** Chunks of a check that run concurrently. */
  chunksAtOnce: number;
}

/** A run through the pool waits for proxies if there are too few when it starts. */
export function needingProxies(run: NewRun, rules: ProxyRules): NewRun {
  if (!wantsPool(run.kind, run.snapshot)) return run;
  return { ...run, proxies: { atLeast: leastOf(rules), waitMs: rules.waitMs } };
}
