import type { Clock } from "../base/clock.ts";
import type { DiskRoom } from "../base/disk-room.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/options.ts";
import type { NewAlert } from "../store/alert-port.ts";
import type { Store } from "../store/port.ts";
import { type AlertSender, createAlertSender } from "./alert-sender.ts";
import { type Raise, raiser } from "./alerts.ts";
import { Duties, type Duty } from "./duties.ts";
import { deliverAlerts } from "./duties/deliver-alerts.ts";
import { loseWorkers } from "./duties/lose-workers.ts";
import { raiseAlerts } from "./duties/raise-alerts.ts";
import { unwritten, watchDisk } from "./duties/watch-disk.ts";

/** null: nobody is to be told. */
export function openAlertSender(config: Config, { clock, log }: { clock: Clock; log: Log }): AlertSender | null {
  const { alertWebhookUrl: url, webhookSecret: secret, userAgent } = config;
  return url === null ? null : createAlertSender({ url, secret, clock, log, userAgent });
}

export interface Alerting {
  raise: Raise;
  /** What one process alone looks after: the one that is the engine. */
  engineDuties: readonly Duty[];
  stop(): Promise<void>;
}

/**
 * Begins what every process that lives on does about alerts, the API and the supervisor as well as workers: whoever is
 * left tells of those that are gone. They do not get in each other's way, since each alert is raised under its key, and
 * taken for delivery by one of them.
 */
export function startAlerting(
  config: Config,
  deps: { store: Store; clock: Clock; random: Random; log: Log; room: DiskRoom },
): Alerting {
  const sender = openAlertSender(config, deps);
  const raise = raiser({ ...deps, deliver: sender !== null });
  const delivery = sender === null ? [] : [deliverAlerts({ ...deps, sender })];
  const tellAtOnce =
    sender === null ? null : (alert: NewAlert) => sender.send(unwritten(alert, deps.random.uuid(), deps.clock.now()));
  const duties = new Duties({
    ...deps,
    duties: [raiseAlerts({ ...deps, raise }), loseWorkers({ ...deps, raise }), ...delivery],
  });
  duties.start();
  return {
    raise,
    engineDuties: [watchDisk({ ...deps, raise, tellAtOnce })],
    stop: async () => {
      await duties.stop();
      await sender?.close();
    },
  };
}
