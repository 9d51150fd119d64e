import type { DiskSpace } from "../../base/files/disk-space.ts";
import { isDiskFull } from "../../base/errors.ts";
import type { AlertRecord, NewAlert } from "../../store/ports/alert-port.ts";
import type { Store } from "../../store/ports/port.ts";
import { diskLow, diskLowKey, type Raise } from "../alerts.ts";
import type { Duty } from "../duties.ts";

interface DiskWatchDeps {
  store: Store;
  diskSpace: DiskSpace;
  raise: Raise;
  /** The machine of the disk; null: there is one machine. */
  machine: string | null;
  /** Sends without the store: a full disk cannot store the alert, exactly when it matters most. */
  sendNow: ((alert: NewAlert) => Promise<void>) | null;
}

/** Raises an alert once when the disk runs low, across restarts, and again the next time. */
export function watchDisk({ store, diskSpace, raise, machine, sendNow }: DiskWatchDeps): Duty {
  let reportedLow: boolean | null = null;
  return {
    name: "check free disk space",
    everyMs: 1000,
    async run() {
      const { low } = diskSpace;
      if ((low !== null) === reportedLow) return;
      if (low === null) await store.alertOver(diskLowKey(machine));
      else await report(diskLow(diskSpace, low, machine));
      reportedLow = low !== null;
    },
  };

  async function report(alert: NewAlert): Promise<void> {
    try {
      await raise([alert]);
    } catch (error) {
      if (!isDiskFull(error) || sendNow === null) throw error;
      await sendNow(alert);
    }
  }
}

/** An alert that is sent but not stored. */
export function unwritten(alert: NewAlert, id: string, now: number): AlertRecord {
  return {
    ...alert,
    id,
    createdAt: now,
    delivery: "waiting",
    tries: 0,
    nextTryAt: null,
    lastError: null,
    deliveredAt: null,
  };
}
