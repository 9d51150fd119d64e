import type { Clock } from "../../base/clock.ts";
import type { Signal } from "../../base/signal.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { Grown, Growth } from "../../store/ports/crawl-port.ts";
import type { ClaimedTask, LaneGrant, Store } from "../../store/ports/port.ts";
import { Requeue, type HandlerContext } from "../handlers/handler.ts";
import type { Pace } from "../limits/pace.ts";
import type { SiteNotes } from "./site-notes.ts";

interface ContextDeps {
  store: Store;
  clock: Clock;
  /** Called with the lanes that got work. */
  onOpened: (lanes: string[]) => void;
}

interface LaneState {
  grant: LaneGrant;
  pace: Pace;
  notes: SiteNotes;
  changed: Signal;
}

/** What a lane provides to the handler of a task: crawl delays, adding tasks, and reporting waits. */
export function taskContext(
  deps: ContextDeps,
  { grant, pace, notes, changed }: LaneState,
  task: ClaimedTask,
): Omit<HandlerContext, "log" | "signal" | "leaveSlot" | "leaveSite" | "refused" | "refusalRead"> {
  const delayAtStart = pace.crawlDelayMs;
  return {
    hold: grant,
    addDiscovered: (growth) => addDiscovered(deps, grant, task, growth),
    keepDelay: (ms) => {
      pace.setCrawlDelay(task.site ?? "", ms);
      return ms <= delayAtStart;
    },
    mayAsk: () => {
      if (pace.isHeld) throw new Requeue("the site was paused or rate limited in the meantime");
    },
    nextTurn: () => pace.nextTurn(),
    waitsForMemory: (waits) => {
      notes.waitsForMemory(waits);
      changed.raise();
    },
  };
}

async function addDiscovered(
  { store, clock, onOpened }: ContextDeps,
  grant: LaneGrant,
  task: ClaimedTask,
  growth: Growth,
): Promise<Grown> {
  const grown = await store.growRun(grant, task, growth, clock.now());
  if (grown === null) throw new FetchFailure("run_cancelled", "the run has ended, or its lane has another owner");
  if (grown.lanes.length > 0) onOpened(grown.lanes);
  return grown;
}
