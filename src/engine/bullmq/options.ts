import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import type { Random } from "../../base/random.ts";
import type { Store } from "../../store/ports/port.ts";
import type { EngineRole, LaneHost, Timetable } from "../port.ts";

export interface BullmqEngineOptions {
  store: Store;
  host: LaneHost;
  clock: Clock;
  random: Random;
  log: Log;
  identity: ProcessIdentity;
  /** Whether a process may be alive; true when that cannot be known from here. */
  mayBeAlive(who: ProcessIdentity): boolean;
  /** Scheduled work; any worker may run it. */
  timetable: Timetable;
  redisUrl: string;
  /** Prefix of all keys of a deployment. */
  prefix: string;
  leaseTtlMs: number;
  heartbeatMs: number;
  graceMs: number;
  maxActiveLanes: number;
  /** How often one process of the deployment reconciles everything, even without a known change. */
  reconcileMs?: number;
  /** Called when this process starts or stops working. */
  onRole?: (role: EngineRole) => void;
  /** Called when this process gains or loses leadership. */
  onLead?: (leads: boolean) => void;
}
