import type { Clock } from "../base/clock.ts";
import type { DiskSpace } from "../base/files/disk-space.ts";
import type { Log } from "../base/log.ts";
import { machineName, mayBeAlive, ownIdentity } from "../base/machine.ts";
import type { Random } from "../base/random.ts";
import type { Seal } from "../base/seal.ts";
import type { Config } from "../config/options.ts";
import type { NewAlert } from "../store/ports/alert-port.ts";
import type { EngineHolder } from "../store/records/engine-records.ts";
import type { Store } from "../store/ports/port.ts";
import { type AlertSender, createAlertSender } from "./alert-sender.ts";
import { type Raise, raiser } from "./alerts.ts";
import { DueLook } from "./due-look.ts";
import { Duties, type Duty } from "./duties.ts";
import { deliverAlerts } from "./duties/deliver-alerts.ts";
import { deliverMessages } from "./duties/deliver-messages.ts";
import { loseWorkers } from "./duties/lose-workers.ts";
import { raiseAlerts } from "./duties/raise-alerts.ts";
import { unwritten, watchDisk } from "./duties/watch-disk.ts";
import { openMessageSender } from "./notifications/open-sender.ts";
import type { MessageSender } from "./notifications/sender.ts";

/** Null: alerts are not sent. */
export function openAlertSender(config: Config, { clock, log }: { clock: Clock; log: Log }): AlertSender | null {
  const { alertWebhookUrl: url, webhookSecret: secret, userAgent } = config;
  return url === null ? null : createAlertSender({ url, secret, clock, log, userAgent });
}

export interface Alerting {
  raise: Raise;
  /** Duties of a single process, if there is one engine. */
  engineDuties: readonly Duty[];
  /** Shared with the other duties of the process. */
  look: DueLook;
  stop(): Promise<void>;
}

/** How long a known leader is trusted if it may be alive; two processes doing the same do not conflict. */
const BELIEVED_MS = 10_000;

/** How long a known leader is assumed to be alive. */
function holds({ holder }: { holder: EngineHolder | null }, age: number, most: number): boolean {
  return holder !== null && age < most && age <= holder.remainingMs && mayBeAlive(holder);
}

/** In a cluster the leader runs it; without a leader, any process. */
function unlessAnotherLeads(
  { store, clock, look }: { store: Store; clock: Clock; look: DueLook },
  duties: readonly Duty[],
): readonly Duty[] {
  if (store.capabilities.singleEngine) return duties;
  const self = ownIdentity();
  let believed: { holder: EngineHolder | null; at: number } | null = null;
  const anotherLeads = async () => {
    const now = clock.monotonic();
    if (believed === null || !holds(believed, now - believed.at, BELIEVED_MS))
      believed = { holder: await store.engineHolder(), at: now };
    const { holder } = believed;
    const isOwn = holder?.pid === self.pid && holder.pidStart === self.pidStart && holder.boot === self.boot;
    return !isOwn && holds(believed, now - believed.at, Number.POSITIVE_INFINITY);
  };
  const lead = async (duty: Duty, signal: AbortSignal) => {
    if (await anotherLeads()) return;
    await duty.run(signal, duty.looksFirst === true ? await look.due() : undefined);
  };
  return duties.map((duty) => ({ name: duty.name, everyMs: duty.everyMs, run: (signal) => lead(duty, signal) }));
}

/**
 * Starts the alerting of a long-lived process: API and supervisor as well as workers, so that the remaining ones report
 * those that are gone. They do not conflict: each alert is raised under its key and delivered by one process. `works`:
 * also watches the disk of its machine.
 */
export function startAlerting(
  config: Config,
  deps: { store: Store; clock: Clock; random: Random; log: Log; seal: Seal; diskSpace: DiskSpace; works?: true },
): Alerting {
  const sender = openAlertSender(config, deps);
  const raise = raiser({ ...deps, deliver: sender !== null });
  const delivery = sender === null ? [] : [deliverAlerts({ ...deps, sender })];
  const sendNow =
    sender === null ? null : (alert: NewAlert) => sender.send(unwritten(alert, deps.random.uuid(), deps.clock.now()));
  const { singleEngine } = deps.store.capabilities;
  const disk = watchDisk({ ...deps, raise, sendNow, machine: singleEngine ? null : machineName() });
  let messages: Promise<MessageSender> | null = null;
  const notifications = deliverMessages({
    ...deps,
    sender: () => (messages ??= openMessageSender(config, deps)),
    publicUrl: config.publicUrl,
    deliver: sender !== null,
  });
  const common = [raiseAlerts({ ...deps, raise }), loseWorkers({ ...deps, raise }), ...delivery, notifications];
  const look = new DueLook(deps);
  const duties = new Duties({
    ...deps,
    look,
    duties: [...unlessAnotherLeads({ ...deps, look }, common), ...(singleEngine || deps.works !== true ? [] : [disk])],
  });
  duties.start();
  return {
    raise,
    engineDuties: singleEngine ? [disk] : [],
    look,
    stop: async () => {
      await duties.stop();
      await sender?.close();
      await (await messages)?.close();
    },
  };
}
