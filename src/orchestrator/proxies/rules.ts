import { wantsPool } from "../../domain/proxy-wish.ts";
import type { NewRun } from "../../store/port.ts";

/** What is configured about proxies. */
export interface ProxyRules {
  /** Usable proxies that a run which needs some waits for. */
  atLeast: number;
  waitMs: number;
  /** What becomes of a run that has waited so long. */
  shortage: "use_fewer" | "fail";
  /** What is fetched through a proxy to check it; null: only whether it can be reached is looked at. */
  checkUrl: string | null;
  checkTimeoutMs: number;
  /** 0: checks are not made in a rhythm. */
  refreshEveryMs: number;
  /** Chunks of a check that are at work at once. */
  chunksAtOnce: number;
}

/** A run that is done through the pool waits for proxies, if there are too few when it begins. */
export function needingProxies(run: NewRun, { atLeast, waitMs }: ProxyRules): NewRun {
  // Without a minimum it still needs one.
  return wantsPool(run.kind, run.snapshot) ? { ...run, proxies: { atLeast: Math.max(1, atLeast), waitMs } } : run;
}
