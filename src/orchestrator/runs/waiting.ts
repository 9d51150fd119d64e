/** What keeps a run from its work: one answer for lists, single reads, the command line and the dashboard. */
import { type RunState, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import { heldBySite, stateForWork } from "../../domain/waiting.ts";
import { waitingSentence } from "../../domain/waiting-sentence.ts";
import type { RunRecord } from "../../store/port.ts";
import { sentenceOf, type Standstill } from "../workforce.ts";
import { listHeldSites, type RunSiteDeps, type RunSiteView } from "./sites.ts";
import type { RunWaits } from "./view.ts";

export interface RunWaitDeps extends RunSiteDeps {
  /** How many crawls may be running at once; the others wait. */
  maxConcurrentCrawls: number;
}

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

const BY_STATUS: Partial<Record<RunState, Omit<RunWaits, "until">>> = {
  paused: { reason: "run_paused", message: "Paused: resume it to go on" },
  waiting_for_human: { reason: "person", message: "Waits for a person" },
  queued: { reason: "turn", message: "Waits for its turn: the maximum number of crawls is running" },
};

/** `still` is why nobody begins anything. */
export async function waitingOfRun(
  deps: RunWaitDeps,
  run: RunRecord,
  still: Standstill | null,
): Promise<RunWaits | null> {
  const { hold, status } = run;
  if (TERMINAL_RUN_STATES.includes(status)) return null;
  if (hold && status !== "paused") return { reason: hold.reason, until: iso(hold.until), message: hold.message };
  const isWanted = status === "queued" || status === "running";
  if (still !== null && isWanted && !still.runs.has(run.id))
    return { reason: still.reason, until: null, message: sentenceOf(still) };
  const byStatus = BY_STATUS[stateForWork(run)];
  // One that was made a moment ago is about to begin, and a workflow that is queued has not been started.
  if (byStatus?.reason === "turn" && (run.kind !== "crawl" || (await hasRoomForCrawls(deps)))) return null;
  if (byStatus !== undefined) return { ...byStatus, until: null };
  // Workflows wait by their steps.
  if (stateForWork(run) !== "running" || run.kind === "workflow") return null;
  return (await heldElsewhere(deps, run)) ?? heldFirst(await listHeldSites(deps, run, still));
}

async function hasRoomForCrawls({ store, maxConcurrentCrawls }: RunWaitDeps): Promise<boolean> {
  return (await store.crawlCounts()).running < maxConcurrentCrawls;
}

/** A page that redirects have led to another site waits there. */
async function heldElsewhere({ store, clock }: RunSiteDeps, run: RunRecord): Promise<RunWaits | null> {
  const { waits_at: other = null } = run.facts;
  const site = other === null ? null : await store.site(other);
  const held = site === null ? null : heldBySite(site, 0, clock.now());
  if (site === null || held === null) return null;
  return { reason: held.reason, until: iso(held.until), message: `${site.site}: ${waitingSentence(held)}` };
}

/** Behind every time. */
const LAST = "~";

/** Of several sites that keep a run the one that goes on first. */
export function heldFirst(sites: readonly RunSiteView[]): RunWaits | null {
  const held = sites.flatMap(({ site, waiting_for: why }) =>
    why === null ? [] : [{ ...why, message: `${site}: ${why.message}` }],
  );
  const [first = null] = held.toSorted((a, b) => (a.until ?? LAST).localeCompare(b.until ?? LAST));
  return first;
}
