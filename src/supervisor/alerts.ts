import type { Clock } from "../base/clock.ts";
import { isoOf } from "../base/iso.ts";
import type { DiskSpace } from "../base/files/disk-space.ts";
import type { Log } from "../base/log.ts";
import type { EventType } from "../domain/run/event-catalogue.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { FoundEvent, NewAlert } from "../store/ports/alert-port.ts";
import type { NewNotice } from "../store/ports/notify/notify-port.ts";
import type { DiskUse } from "../store/ports/retention-port.ts";
import type { RunRecord, Store } from "../store/ports/port.ts";
import type { WorkerRecord } from "../store/ports/worker-port.ts";
import type { ChildStatus } from "./processes/state-file.ts";

interface AlertDeps {
  store: Store;
  clock: Clock;
  log: Log;
  /** Whether alerts are sent; otherwise they are only stored and logged. */
  deliver: boolean;
}

/** Raises the new ones among these, and stores the position in the event feed with them, and the notices before it. */
export type Raise = (alerts: readonly NewAlert[], feed?: string, notices?: readonly NewNotice[]) => Promise<void>;

export function raiser({ store, clock, log, deliver }: AlertDeps): Raise {
  return async (alerts, feed, notices = []) => {
    const options = { deliver, notices, ...(feed === undefined ? {} : { feed }) };
    // Not a warning: it was logged where it happened, and a user following the run has seen it.
    for (const { id, kind, subject, message } of await store.raiseAlerts(alerts, options, clock.now()))
      log.info(`alert: ${message}`, { alert: id, kind, subject });
  };
}

/** A worker that returns and is lost again is reported again. */
export function workerLost({ id, machine, identity, command, inFlight, heartbeatAt }: WorkerRecord): NewAlert {
  const lastSeen = isoOf(heartbeatAt);
  return {
    kind: "worker_lost",
    subject: id,
    message: `Worker lost: process ${identity.pid} (${command}) on ${machine} sent its last heartbeat at ${lastSeen.slice(11, 19)} UTC`,
    detail: { worker_id: id, machine, pid: identity.pid, command, in_flight: inFlight, heard_at: lastSeen },
    key: `worker_lost:${id}:${heartbeatAt}`,
  };
}

export function crashLoop({ name, kind, restarts, note }: ChildStatus, now: number): NewAlert {
  return {
    kind: "crash_loop",
    subject: name,
    message: `Crash loop: ${name} crashed repeatedly and is now restarted only once a minute${note === null ? "" : `; last: ${note}`}`,
    detail: { name, kind, restarts, why: note },
    key: `crash_loop:${name}:${now}`,
  };
}

/** `machine`: with several machines, each has its own disks. */
export function diskLowKey(machine: string | null): string {
  return machine === null ? "disk_low" : `disk_low:${machine}`;
}

export function diskLow(
  diskSpace: DiskSpace,
  { what, since }: { what: string; since: number },
  machine: string | null,
): NewAlert {
  const message = diskSpace.describe(what);
  return {
    kind: "disk_low",
    subject: machine === null ? what : `${what} on ${machine}`,
    message: `Disk low${machine === null ? "" : ` on ${machine}`}: ${message.slice(message.indexOf(": ") + 2)}; work pauses`,
    detail: {
      ...(machine === null ? {} : { machine }),
      free_bytes: diskSpace.spaces.find((one) => one.what === what)?.freeBytes ?? null,
      min_free_bytes: diskSpace.minBytes,
      since: isoOf(since),
    },
    key: diskLowKey(machine),
  };
}

export const DISK_BUDGET_KEY = "disk_budget";

export function diskBudget(use: DiskUse, budgetBytes: number, action: "warn" | "remove"): NewAlert {
  const part = Math.floor((100 * use.bytes) / budgetBytes);
  const then =
    action === "warn"
      ? "nothing is deleted automatically"
      : "when it is used up, the oldest runs are deleted, at the earliest a day after this alert";
  return {
    kind: "disk_budget",
    subject: "stored data",
    message: `Disk budget: stored data takes ${inMb(use.bytes)} MB, ${part} % of ${inMb(budgetBytes)} MB (APP_DISK_BUDGET_MB); ${then}`,
    detail: { used_bytes: use.bytes, budget_bytes: budgetBytes, action, measured_at: isoOf(use.measuredAt) },
    key: DISK_BUDGET_KEY,
  };
}

const inMb = (bytes: number) => Math.round(bytes / (1024 * 1024));

/** Events that raise an alert. */
export const ALERTING = ["circuit.opened", "run.failed"] as const satisfies readonly EventType[];

/** Every run with work at the site gets the same event; a failed probe of an open circuit is not reported again. */
export function breakerOpened({ type, message, meta }: FoundEvent): NewAlert | null {
  const { site, until, failed_probes: failedProbes } = meta as { site: string; until: string; failed_probes: number };
  if (failedProbes > 0) return null;
  const detail = { event_type: type, ...(meta as object) };
  return { kind: "breaker_open", subject: site, message, detail, key: `breaker_open:${site}:${until}` };
}

export function runFailed({ id, type, message, createdAt }: FoundEvent, run: RunRecord): NewAlert {
  const { kind, name, jobId: job_id, url, facts } = run;
  return {
    kind: "run_failed",
    subject: run.id,
    message,
    detail: {
      event_type: type,
      run_id: run.id,
      kind,
      name,
      job_id,
      url: url === null ? null : shownUrl(url),
      failure_code: facts.failure_code ?? null,
      failure_reason: facts.failure_reason ?? null,
      failed_at: isoOf(createdAt),
    },
    key: `run_failed:${id}`,
  };
}
