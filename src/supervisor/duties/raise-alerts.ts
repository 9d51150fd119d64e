import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { FailureReason } from "../../domain/run/failure.ts";
import type { FoundEvent, NewAlert } from "../../store/ports/alert-port.ts";
import type { Store } from "../../store/ports/port.ts";
import { ALERTING, breakerOpened, type Raise, runFailed } from "../alerts.ts";
import type { Duty } from "../duties.ts";
import { FailedRuns } from "../failed-runs.ts";

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
        const look = await store.findEvents({ after: seen, types: ALERTING, look: LOOK });
        const alerts: NewAlert[] = [];
        let before: string = seen;
        for (const event of look.found) {
          const alert = await alertOf(event, before);
          if (alert !== null) alerts.push(alert);
          before = event.id;
        }
        more = look.more;
        // A past minute is complete only after the feed was read to its end.
        if (!more) alerts.push(...failures.over(clock.now()));
        await keep(alerts, failures.heldAt ?? look.last);
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

  async function keep(alerts: readonly NewAlert[], position: string): Promise<void> {
    kept.looks += 1;
    const isLong = kept.looks * LOOK >= KEEP_EVERY_EVENTS || clock.monotonic() - kept.at >= KEEP_EVERY_MS;
    if (alerts.length === 0 && (position === kept.position || !isLong)) return;
    await raise(alerts, position);
    Object.assign(kept, { position, at: clock.monotonic(), looks: 0 });
  }
}
