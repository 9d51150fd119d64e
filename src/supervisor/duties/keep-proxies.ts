import type { TurnDeps } from "../../orchestrator/crawls/turns.ts";
import { lookAfterHeldRuns } from "../../orchestrator/proxies/held-runs.ts";
import { keepProxiesFresh } from "../../orchestrator/proxies/keep-fresh.ts";
import type { RefreshDeps } from "../../orchestrator/proxies/refresh.ts";
import type { Duty } from "../duties.ts";

/** Proxies are checked in their rhythm, and runs that wait for some go on when they are there, or when they have waited long enough. */
export function keepProxies(deps: RefreshDeps & TurnDeps): Duty {
  return {
    name: "check proxies, and see to runs that wait for some",
    everyMs: 1000,
    looksFirst: true,
    async run(_signal, due) {
      if (due?.proxies === false) return;
      await lookAfterHeldRuns(deps);
      await keepProxiesFresh(deps);
    },
  };
}
