import type { Clock } from "../base/clock.ts";
import type { DiskRoom } from "../base/disk-room.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/options.ts";
import type { NewAlert } from "../store/alert-port.ts";
import type { Store } from "../store/port.ts";
import { type AlertSender, createAlertSender } from "./alert-sender.ts";
import { type Raise, raiser } from "./alerts.ts";
import type { Duty } from "./duties.ts";
import { deliverAlerts } from "./duties/deliver-alerts.ts";
import { raiseAlerts } from "./duties/raise-alerts.ts";
import { unwritten, watchDisk } from "./duties/watch-disk.ts";

/** null: nobody is to be told. */
export function openAlertSender(config: Config, { clock, log }: { clock: Clock; log: Log }): AlertSender | null {
  const { alertWebhookUrl: url, webhookSecret: secret, userAgent } = config;
  return url === null ? null : createAlertSender({ url, secret, clock, log, userAgent });
}

/** All that a worker does about alerts. */
export function alerting(
  config: Config,
  deps: { store: Store; clock: Clock; random: Random; log: Log; room: DiskRoom },
): { raise: Raise; duties: readonly Duty[]; close(): Promise<void> } {
  const sender = openAlertSender(config, deps);
  const raise = raiser({ ...deps, deliver: sender !== null });
  const delivery = sender === null ? [] : [deliverAlerts({ ...deps, sender })];
  const tellAtOnce =
    sender === null ? null : (alert: NewAlert) => sender.send(unwritten(alert, deps.random.uuid(), deps.clock.now()));
  return {
    raise,
    duties: [raiseAlerts({ ...deps, raise }), watchDisk({ ...deps, raise, tellAtOnce }), ...delivery],
    close: async () => sender?.close(),
  };
}
