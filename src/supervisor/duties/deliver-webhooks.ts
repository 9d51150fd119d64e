import type { Clock } from "../../base/clock.ts";
import { isOrbError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Seal } from "../../base/seal.ts";
import { ALERT_RETRY, type AlertRetryRule, alertRetryWait } from "../../domain/run/alerts.ts";
import { SEALED_FOR_WEBHOOK, type WebhookTarget } from "../../domain/run/webhooks.ts";
import type { Store } from "../../store/ports/port.ts";
import type { DueWebhook, WebhookCall } from "../../store/ports/webhook-port.ts";
import type { Duty } from "../duties.ts";
import { WEBHOOK_TRY_MS, type WebhookSender } from "../webhook-sender.ts";

/** Concurrent calls per run, and concurrent runs. */
const CALLS_AT_ONCE = 10;
const RUNS_AT_ONCE = 4;
/** Longer than one attempt; afterwards another process takes over the calls of a dead one. */
const TAKEN_MS = 1.5 * WEBHOOK_TRY_MS;

interface WebhookDeps {
  store: Store;
  clock: Clock;
  log: Log;
  seal: Seal;
  sender: WebhookSender;
  /** The payload in the receiver's format; null: its run or task is gone. */
  bodyOf(runId: string, call: WebhookCall, target: WebhookTarget): Promise<object | null>;
  retry?: AlertRetryRule;
  /** The W3C `traceparent` of the run; absent, or null: it is not traced. */
  traceparentOf?: ((runId: string) => Promise<string | null>) | undefined;
}

/**
 * Delivers webhook calls like alerts: with the same id at every attempt, until the receiver accepts them or the
 * attempts are used up.
 */
export function deliverWebhooks(deps: WebhookDeps): Duty {
  return {
    name: "deliver webhooks",
    everyMs: 500,
    looksFirst: true,
    async run(signal, due) {
      if (due?.webhooks === false) return;
      await Promise.all(Array.from({ length: RUNS_AT_ONCE }, () => deliverAll(deps, signal)));
    },
  };
}

async function deliverAll(deps: WebhookDeps, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  while (!signal.aborted) {
    const now = clock.now();
    const due = await store.takeDueWebhook({ most: CALLS_AT_ONCE, until: now + TAKEN_MS }, now);
    if (due === null) return;
    await deliver(deps, due, signal);
  }
}

async function deliver(deps: WebhookDeps, due: DueWebhook, signal: AbortSignal): Promise<void> {
  const { store, clock, log, retry = ALERT_RETRY } = deps;
  const delivered: string[] = [];
  let error: string | null = null;
  const target = targetOf(deps, due);
  const traceparent = (await deps.traceparentOf?.(due.runId)) ?? null;
  const traced = traceparent === null ? {} : { traceparent };
  if (target === null) error = "its URL cannot be decrypted with the current APP_SECRET_KEY";
  else
    await Promise.all(
      due.calls.map(async (call) => {
        try {
          const body = await deps.bodyOf(due.runId, call, target);
          if (body !== null)
            await deps.sender.send(target, { id: call.id, body: JSON.stringify(body), ...traced }, signal);
          delivered.push(call.id);
        } catch (failure) {
          error = messageOf(failure);
        }
      }),
    );
  // An attempt interrupted by shutdown does not count; it is repeated when due.
  if (error !== null && signal.aborted) return void (await store.webhookTried(due, { delivered }, clock.now()));
  const wait = alertRetryWait(retry, delivered.length > 0 ? 1 : due.tries + 1);
  const nextTryAt = wait === null ? null : clock.now() + wait;
  const failed = error === null ? {} : { failed: { error, nextTryAt } };
  if (error !== null) log.warn("a webhook was rejected", { run: due.runId, error, given_up: nextTryAt === null });
  await store.webhookTried(due, { delivered, ...failed }, clock.now());
}

function targetOf({ seal }: WebhookDeps, { sealed }: DueWebhook): WebhookTarget | null {
  try {
    return seal.open(sealed, SEALED_FOR_WEBHOOK) as WebhookTarget;
  } catch (error) {
    if (!isOrbError(error, "secret_key_wrong")) throw error;
    return null;
  }
}
