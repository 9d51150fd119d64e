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
  /** Whether a process may still live; true when that cannot be known from here. */
  mayBeAlive(who: ProcessIdentity): boolean;
  /** Scheduled work; any working process may be notified of it. */
  timetable: Timetable;
  redisUrl: string;
  /** What all keys of a deployment begin with. */
  prefix: string;
  leaseTtlMs: number;
  heartbeatMs: number;
  graceMs: number;
  maxActiveLanes: number;
  /** How often one of all processes reconciles everything, even without a known change. */
  reconcileMs?: number;
  /** Told when this process begins to work or stops working. */
  onRole?: (role: EngineRole) => void;
  /** Called when this process gains or loses leadership. */
  onLead?: (leads: boolean) => void;
}
