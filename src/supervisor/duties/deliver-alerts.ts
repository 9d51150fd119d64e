import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { ALERT_RETRY, type AlertRetryRule } from "../../domain/alerts.ts";
import { deliverAlert } from "../../orchestrator/alerts.ts";
import type { Store } from "../../store/port.ts";
import type { AlertSender } from "../alert-sender.ts";
import type { Duty } from "../duties.ts";

const AT_ONCE = 10;

export interface DeliveryDeps {
  store: Store;
  clock: Clock;
  log: Log;
  sender: AlertSender;
  retry?: AlertRetryRule;
}

/** Takes alerts to their receiver until it has taken them, under the same id every time, or until they are given up. */
export function deliverAlerts({ store, clock, log, sender, retry = ALERT_RETRY }: DeliveryDeps): Duty {
  return {
    name: "deliver alerts",
    everyMs: 1000,
    async run(signal) {
      const due = await store.dueAlerts(clock.now(), AT_ONCE);
      await Promise.all(
        due.map(async (alert) => {
          const tried = await deliverAlert({ store, clock, retry }, alert, () => sender.send(alert, signal), signal);
          if (tried?.delivery === "given_up")
            log.error("an alert could not be delivered and is given up", { alert: alert.id, error: tried.lastError });
          else if (tried?.delivery === "waiting" && tried.tries === 1)
            log.warn("an alert could not be delivered and is tried again", { alert: alert.id, error: tried.lastError });
        }),
      );
    },
  };
}
