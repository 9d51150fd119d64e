import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { SettledTask, Store } from "../../store/ports/port.ts";
import type { AttemptDeps } from "./attempt.ts";
import type { Budgets } from "../limits/budgets.ts";
import type { EventLoopTurns } from "./event-loop-turns.ts";
import type { PaceMemories } from "../limits/pace-memories.ts";
import type { StoreBackpressure } from "../limits/store-backpressure.ts";
import type { RateLimitWaits } from "../limits/rate-limit-waits.ts";
import type { LaneRules } from "../rules.ts";
import type { ActiveTasks } from "./running.ts";
import type { Settler } from "./settler.ts";
import type { Slots } from "../limits/slots.ts";

/** What all lane owners of a process share. */
export interface OwnerDeps {
  store: Store;
  clock: Clock;
  log: Log;
  rules: LaneRules;
  attempt: AttemptDeps;
  slots: Slots;
  budgets: Budgets;
  settler: Settler;
  paces: PaceMemories;
  backpressure: StoreBackpressure;
  active: ActiveTasks;
  waits: RateLimitWaits;
  turns: EventLoopTurns;
  /** Called with the lanes that got work. */
  onOpened: (lanes: string[]) => void;
  /** For the progress display: a task of this site, or of this lane without a site, started or ended. */
  onTask?: (name: string, what: "started" | "ended", settled?: SettledTask) => void;
}
