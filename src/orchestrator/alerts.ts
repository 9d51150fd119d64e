/** Alerts for the operator: delivered and pending. */
import type { Clock } from "../base/clock.ts";
import { messageOf, OrbError } from "../base/errors.ts";
import { isoOf, isoOrNull } from "../base/iso.ts";
import type { Random } from "../base/random.ts";
import { ALERT_RETRY, type AlertKind, type AlertRetryRule, alertRetryWait } from "../domain/run/alerts.ts";
import type { AlertRecord } from "../store/ports/alert-port.ts";
import type { Store } from "../store/ports/port.ts";

export interface AlertView {
  id: string;
  kind: AlertKind;
  subject: string;
  message: string;
  detail: unknown;
  created_at: string;
  delivery: AlertRecord["delivery"];
  tries: number;
  next_try_at: string | null;
  last_error: string | null;
  delivered_at: string | null;
}

export interface AlertsDeps {
  store: Store;
  clock: Clock;
  random: Random;
  /** Delivers one alert to its receiver and throws when the receiver rejects it; null: no receiver is configured. */
  sendAlert: ((alert: AlertRecord) => Promise<void>) | null;
}

function viewOf(alert: AlertRecord): AlertView {
  const { id, kind, subject, message, detail, delivery, tries } = alert;
  return {
    id,
    kind,
    subject,
    message,
    detail,
    created_at: isoOf(alert.createdAt),
    delivery,
    tries,
    next_try_at: isoOrNull(alert.nextTryAt),
    last_error: alert.lastError,
    delivered_at: isoOrNull(alert.deliveredAt),
  };
}

export async function listAlerts(
  { store }: Pick<AlertsDeps, "store">,
  filter: Parameters<Store["alerts"]>[0],
): Promise<AlertView[]> {
  return (await store.alerts(filter)).map(viewOf);
}

/** Longer than one attempt; afterwards another process delivers the alert. */
const OWN_TRY_MS = 30_000;

/** Sends a test alert now, so that the operator sees whether alerts arrive. */
export async function testAlerts({ store, clock, random, sendAlert }: AlertsDeps): Promise<AlertView> {
  if (sendAlert === null) throw new OrbError("alerts_off", "alerts are not sent: APP_ALERT_WEBHOOK_URL is not set");
  const now = clock.now();
  const alert = {
    kind: "test" as const,
    subject: "test",
    message: "Test alert: alerts of this installation arrive here",
    detail: null,
    key: `test:${random.uuid()}`,
  };
  const raised = (await store.raiseAlerts([alert], { deliver: true, firstTryAt: now + OWN_TRY_MS }, now))[0]!;
  const tried = await deliverAlert({ store, clock, retry: ALERT_RETRY }, raised, () => sendAlert(raised));
  return viewOf(tried ?? raised);
}

/** One attempt. Null: shutdown interrupted it, and it does not count. */
export async function deliverAlert(
  { store, clock, retry }: { store: Store; clock: Clock; retry: AlertRetryRule },
  alert: AlertRecord,
  send: () => Promise<void>,
  signal?: AbortSignal,
): Promise<AlertRecord | null> {
  try {
    await send();
  } catch (error) {
    if (signal?.aborted === true) return null;
    const wait = alertRetryWait(retry, alert.tries + 1);
    const nextTryAt = wait === null ? null : clock.now() + wait;
    return store.alertTried(alert, { error: messageOf(error), nextTryAt }, clock.now());
  }
  return store.alertTried(alert, { delivered: true }, clock.now());
}
