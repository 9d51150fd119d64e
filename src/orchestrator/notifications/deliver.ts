import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { type AlertRetryRule, alertRetryWait } from "../../domain/run/alerts.ts";
import type { DueMessage } from "../../store/ports/notify/notify-port.ts";
import type { Store } from "../../store/ports/port.ts";

/** A receiver may ask for more time, but not for more than the longest wait. */
function waitAfter(error: unknown, retry: AlertRetryRule, tries: number): number | null {
  const wait = alertRetryWait(retry, tries);
  const asked = error instanceof FetchFailure ? (error.failure.retryAfterMs ?? 0) : 0;
  return wait === null ? null : Math.min(retry.maxMs, Math.max(wait, asked));
}

/** One attempt, and its record; `send` returns what some receivers refused. Null: delivered. An attempt that shutdown interrupts does not count. */
export async function deliverMessage(
  { store, clock, retry, deliver }: { store: Store; clock: Clock; retry: AlertRetryRule; deliver: boolean },
  due: DueMessage,
  send: () => Promise<string | null>,
  options: { signal?: AbortSignal; notBefore?: (at: number) => number } = {},
): Promise<{ error: unknown; nextTryAt: number | null } | null> {
  let refused: string | null;
  try {
    refused = await send();
  } catch (error) {
    if (options.signal?.aborted === true) return { error, nextTryAt: null };
    const wait = waitAfter(error, retry, due.tries + 1);
    const at = wait === null ? null : clock.now() + wait;
    const nextTryAt = at === null ? null : (options.notBefore?.(at) ?? at);
    await store.messageTried(due, { error: messageOf(error), nextTryAt }, { deliver }, clock.now());
    return { error, nextTryAt };
  }
  await store.messageTried(due, { delivered: true, refused }, { deliver }, clock.now());
  return null;
}
