/** Which site keeps a run of many pages from its work. */
import type { RunRecord } from "../../store/port.ts";
import { requireRun } from "./control.ts";
import { type RunReadDeps, viewOf } from "./read.ts";
import { listHeldSites, type RunSiteDeps, type RunSiteView } from "./sites.ts";
import type { RunView } from "./view.ts";

/** Behind every time. */
const LAST = "~";

/** Of several the one that goes on first. */
export function heldFirst(sites: readonly RunSiteView[]): RunView["waiting_for"] {
  const held = sites.flatMap(({ site, waiting_for: why }) =>
    why === null ? [] : [{ ...why, message: `${site}: ${why.message}` }],
  );
  const [first = null] = held.toSorted((a, b) => (a.until ?? LAST).localeCompare(b.until ?? LAST));
  return first;
}

/** Pages say it themselves, and workflows wait by their steps. */
export const waitsAtSites = ({ kind, status }: RunRecord) =>
  status === "running" && kind !== "workflow" && kind !== "page";

/** A run with what keeps it, also when that is the sites it has pages at. */
export async function showRunAtWork(deps: RunReadDeps & RunSiteDeps, id: string): Promise<RunView> {
  const run = await requireRun(deps, id);
  const view = await viewOf(deps, run);
  if (view.waiting_for !== null || !waitsAtSites(run)) return view;
  return { ...view, waiting_for: heldFirst(await listHeldSites(deps, run)) };
}
