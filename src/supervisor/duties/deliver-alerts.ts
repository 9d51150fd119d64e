import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { ALERT_RETRY, type AlertRetryRule } from "../../domain/run/alerts.ts";
import { deliverAlert } from "../../orchestrator/alerts.ts";
import type { Store } from "../../store/ports/port.ts";
import type { AlertSender } from "../alert-sender.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 10;
/** Longer than one attempt; afterwards another process takes over the alerts of a dead one. */
const TRY_MS = 15_000;

interface DeliveryDeps {
  store: Store;
  clock: Clock;
  log: Log;
  sender: AlertSender;
  retry?: AlertRetryRule;
}

/** Delivers alerts, with the same id at every attempt, until the receiver accepts them or the attempts are used up. */
export function deliverAlerts({ store, clock, log, sender, retry = ALERT_RETRY }: DeliveryDeps): Duty {
  // While the receiver rejects alerts, sends one at a time.
  let limit = AT_ONCE;
  return {
    name: "deliver alerts",
    everyMs: 1000,
    looksFirst: true,
    async run(signal, due) {
      if (due?.alerts === false) return;
      const taken = await store.takeDueAlerts({ limit, until: clock.now() + TRY_MS }, clock.now());
      if (taken.length === 0) return;
      const tried = await Promise.all(
        taken.map((alert) => deliverAlert({ store, clock, retry }, alert, () => sender.send(alert, signal), signal)),
      );
      for (const alert of tried)
        if (alert?.delivery === "given_up")
          log.error("giving up an undelivered alert", { alert: alert.id, error: alert.lastError });
      limit = tried.some((alert) => alert?.delivery === "delivered") ? AT_ONCE : 1;
    },
  };
}
