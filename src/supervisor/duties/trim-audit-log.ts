import { type Clock, sleep } from "../../base/clock.ts";
import type { Store } from "../../store/ports/port.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 1000;
/** Lets other writers use the database in between. */
const REST_MS = 20;
const DAY_MS = 86_400_000;

/** Removes entries of the audit log that are older than APP_AUDIT_KEEP_DAYS; 0: none. */
export function trimAuditLog({ store, clock, keepDays }: { store: Store; clock: Clock; keepDays: number }): Duty {
  return {
    name: "remove old entries of the audit log",
    everyMs: 3_600_000,
    async run(signal) {
      if (keepDays === 0) return;
      const before = clock.now() - keepDays * DAY_MS;
      while (!signal.aborted && (await store.trimAuditLog(before, AT_ONCE)) === AT_ONCE)
        await sleep(clock, REST_MS, signal);
    },
  };
}
