import type { AdmissionDeps } from "../../orchestrator/crawls/turns.ts";
import { checkHeldRuns } from "../../orchestrator/proxies/held-runs.ts";
import { keepProxiesFresh } from "../../orchestrator/proxies/keep-fresh.ts";
import type { RefreshDeps } from "../../orchestrator/proxies/refresh.ts";
import type { Duty } from "../duties.ts";

/**
 * Checks proxies periodically, and resumes runs that wait for proxies when there are enough or the wait limit has
 * passed.
 */
export function keepProxies(deps: RefreshDeps & AdmissionDeps): Duty {
  return {
    name: "check proxies and runs that wait for them",
    everyMs: 1000,
    looksFirst: true,
    async run(_signal, due) {
      if (due?.proxies === false) return;
      await checkHeldRuns(deps);
      await keepProxiesFresh(deps);
    },
  };
}
