import type { Clock } from "../../base/clock.ts";
import { messageOf as errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { messageOf } from "../../domain/notify/message.ts";
import { notBefore } from "../../domain/notify/quiet-hours.ts";
import { ALERT_RETRY, type AlertRetryRule } from "../../domain/run/alerts.ts";
import { deliverMessage } from "../../orchestrator/notifications/deliver.ts";
import type { DueMessage } from "../../store/ports/notify/notify-port.ts";
import type { Store } from "../../store/ports/port.ts";
import type { Duty } from "../duties.ts";
import type { MessageSender } from "../notifications/sender.ts";

/** Longer than one attempt and its record; afterwards another process takes over the messages of a dead one. */
const MESSAGE_TAKEN_MS = 60_000;
/** Concurrent messages, so that a slow receiver does not delay the others. */
const AT_ONCE = 6;

interface MessageDeps {
  store: Store;
  clock: Clock;
  log: Log;
  /** Opened with the first message. */
  sender: () => Promise<MessageSender>;
  publicUrl: string | null;
  /** Whether alerts are sent by webhook. */
  deliver: boolean;
  retry?: AlertRetryRule;
}

/**
 * Delivers notifications like alerts: with the same id at every attempt, until the receiver accepts them or the attempts
 * are used up.
 */
export function deliverMessages(deps: MessageDeps): Duty {
  return {
    name: "deliver notifications",
    everyMs: 1000,
    looksFirst: true,
    async run(signal, due) {
      if (due?.messages === false) return;
      await Promise.all(Array.from({ length: AT_ONCE }, () => deliverAll(deps, signal)));
    },
  };
}

async function deliverAll(deps: MessageDeps, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  while (!signal.aborted) {
    const due = await store.takeDueMessage(clock.now() + MESSAGE_TAKEN_MS, clock.now());
    if (due === null) return;
    await deliver(deps, due, signal);
  }
}

async function deliver(deps: MessageDeps, due: DueMessage, signal: AbortSignal): Promise<void> {
  const { clock, log, publicUrl, retry = ALERT_RETRY } = deps;
  const { channel, notices } = due;
  const failure = await deliverMessage(
    { ...deps, retry },
    due,
    async () => {
      const refused = await (await deps.sender()).send(channel, messageOf(notices, publicUrl), signal);
      if (refused !== null)
        log.warn("a notification was delivered in part", { channel: channel.name, kind: channel.kind, error: refused });
      return refused;
    },
    { signal, notBefore: (at) => Math.min(...notices.map(({ type }) => notBefore(at, channel.quiet, type))) },
  );
  if (failure === null || signal.aborted) return;
  const { error, nextTryAt } = failure;
  const fields = { channel: channel.name, kind: channel.kind, error: errorText(error) };
  if (nextTryAt === null) log.error("giving up an undelivered notification", { ...fields, id: notices[0]!.id });
  else log.warn("a notification was rejected", { ...fields, next_try_in_ms: nextTryAt - clock.now() });
}
