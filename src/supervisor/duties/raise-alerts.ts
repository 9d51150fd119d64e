import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { FailureReason } from "../../domain/run/failure.ts";
import type { FoundEvent, NewAlert } from "../../store/ports/alert-port.ts";
import type { Store } from "../../store/ports/port.ts";
import { NOTIFYING_EVENTS, typeOfEvent } from "../../domain/notify/types.ts";
import type { NewNotice } from "../../store/ports/notify/notify-port.ts";
import { ALERTING, breakerOpened, type Raise, runFailed } from "../alerts.ts";
import type { Duty } from "../duties.ts";
import { FailedRuns } from "../failed-runs.ts";

/** The ends of runs are many: they are read for their alerts alone unless there are channels. */
const WITH_NOTICES = [...new Set([...ALERTING, ...NOTIFYING_EVENTS])];

/** Small enough that nothing waits long for one read. */
const LOOK = 2000;
/** The position is stored after this many events or this long, so that a restart repeats little. */
const KEEP_EVERY_EVENTS = 10_000;
const KEEP_EVERY_MS = 60_000;

/**
 * Scans the events of all runs for alerts. The position is stored with the raised alerts; reading events twice, after a
 * crash or beside other processes, raises nothing twice, since each alert has its key.
 */
export function raiseAlerts({ store, clock, raise }: { store: Store; clock: Clock; raise: Raise }): Duty {
  const failures = new FailedRuns();
  let seen: string | null = null;
  const kept = { position: "", at: 0, looks: 0 };
  return {
    name: "raise alerts",
    everyMs: 1000,
    looksFirst: true,
    async run(signal, due) {
      if (seen !== null && seen === due?.lastEvent && seen === kept.position && failures.heldAt === null) return;
      if (seen === null) {
        seen = await store.alertCursor();
        Object.assign(kept, { position: seen, at: clock.monotonic() });
      }
      for (let more = true; more && !signal.aborted;) {
        const types = due?.channels === false ? ALERTING : WITH_NOTICES;
        const look = await store.findEvents({ after: seen, types, look: LOOK });
        const alerts: NewAlert[] = [];
        const notices = due?.channels === false ? [] : look.found.flatMap(noticeOf);
        let before: string = seen;
        for (const event of look.found) {
          const alert = isAlerting(event) ? await alertOf(event, before) : null;
          if (alert !== null) alerts.push(alert);
          before = event.id;
        }
        more = look.more;
        // A past minute is complete only after the feed was read to its end.
        if (!more) alerts.push(...failures.over(clock.now()));
        await keep(alerts, notices, failures.heldAt ?? look.last);
        seen = look.last;
        if (more) await setImmediate();
      }
    },
  };

  async function alertOf(event: FoundEvent, before: string): Promise<NewAlert | null> {
    if (event.type === "circuit.opened") return breakerOpened(event);
    // A workflow reports for the runs of its steps.
    // Degraded records have an alert of their own.
    const { failure_reason: reason = null } = (event.meta ?? {}) as { failure_reason?: FailureReason };
    if (event.isPart || reason === "records_degraded" || !failures.note(event, before)) return null;
    const run = await store.run(event.runId);
    return run === null ? null : runFailed(event, run);
  }

  async function keep(alerts: readonly NewAlert[], notices: readonly NewNotice[], position: string): Promise<void> {
    kept.looks += 1;
    const isLong = kept.looks * LOOK >= KEEP_EVERY_EVENTS || clock.monotonic() - kept.at >= KEEP_EVERY_MS;
    if (alerts.length === 0 && notices.length === 0 && (position === kept.position || !isLong)) return;
    await raise(alerts, position, notices);
    Object.assign(kept, { position, at: clock.monotonic(), looks: 0 });
  }
}

const isAlerting = ({ type }: FoundEvent) => (ALERTING as readonly string[]).includes(type);

/** A workflow notifies for the runs of its steps, except when one needs a person. */
function noticeOf({ id, type: event, runId, isPart, message, meta, createdAt }: FoundEvent): NewNotice[] {
  const type = typeOfEvent(event);
  if (type === null || (isPart && type !== "waiting_for_human")) return [];
  // Degraded records have an alert of their own.
  if ((meta as { failure_reason?: FailureReason } | null)?.failure_reason === "records_degraded") return [];
  return [{ key: `event:${id}`, type, subject: runId, message, detail: meta, runId, createdAt }];
}
