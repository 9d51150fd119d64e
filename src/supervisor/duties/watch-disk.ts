import type { DiskRoom } from "../../base/files/disk-room.ts";
import { isDiskFull } from "../../base/errors.ts";
import type { AlertRecord, NewAlert } from "../../store/ports/alert-port.ts";
import type { Store } from "../../store/ports/port.ts";
import { diskLow, diskLowKey, type Raise } from "../alerts.ts";
import type { Duty } from "../duties.ts";

export interface DiskWatchDeps {
  store: Store;
  room: DiskRoom;
  raise: Raise;
  /** The name of the machine whose disk it is; null: there is one machine. */
  machine: string | null;
  /** Tells without the store: on a disk that is full to the last byte nothing can be written, and it matters most. */
  tellAtOnce: ((alert: NewAlert) => Promise<void>) | null;
}

/** Tells once when the disk runs low, whoever starts meanwhile, and once more when it runs low again. */
export function watchDisk({ store, room, raise, machine, tellAtOnce }: DiskWatchDeps): Duty {
  let told: boolean | null = null;
  return {
    name: "look whether the disk runs low",
    everyMs: 1000,
    async run() {
      const { low } = room;
      if ((low !== null) === told) return;
      if (low === null) await store.alertOver(diskLowKey(machine));
      else await tell(diskLow(room, low, machine));
      told = low !== null;
    },
  };

  async function tell(alert: NewAlert): Promise<void> {
    try {
      await raise([alert]);
    } catch (error) {
      if (!isDiskFull(error) || tellAtOnce === null) throw error;
      await tellAtOnce(alert);
    }
  }
}

/** An alert that is nowhere but on its way. */
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
