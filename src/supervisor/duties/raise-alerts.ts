import type { Store } from "../../store/port.ts";
import type { NewAlert } from "../../store/alert-port.ts";
import { alertOf, type Raise } from "../alerts.ts";
import type { Duty } from "../duties.ts";

const PAGE = 500;

/**
 * Looks through the events of all runs for what an operator is to be told. How far is kept with what was raised; who
 * looks at some events twice after a crash raises nothing twice, since each alert has its key.
 */
export function raiseAlerts({ store, raise }: { store: Store; raise: Raise }): Duty {
  let seen: string | null = null;
  return {
    name: "look for what is worth an alert",
    everyMs: 1000,
    async run(signal) {
      seen ??= await store.alertCursor();
      for (let more = true; more && !signal.aborted;) {
        const { events, last } = await store.feed({ after: seen, limit: PAGE });
        more = events.length === PAGE;
        const alerts: NewAlert[] = [];
        for (const event of events) {
          if (event.level === "info") continue;
          const run = await store.run(event.runId);
          const alert = run === null ? null : alertOf(event, run);
          if (alert !== null) alerts.push(alert);
        }
        // Most looks find nothing, and then nothing is written until a whole page has gone by.
        if (alerts.length > 0 || more) await raise(alerts, last);
        seen = last;
      }
    },
  };
}
