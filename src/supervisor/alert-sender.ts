/** Sends alerts to the operator's webhook. */
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { isoOf } from "../base/iso.ts";
import type { Log } from "../base/log.ts";
import { webhookHeaders } from "../base/webhook-signature.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { discardBody } from "../net/buffer-sink.ts";
import { createHttpClient } from "../net/http-client.ts";
import type { AlertRecord } from "../store/ports/alert-port.ts";
import { requireSuccess } from "../workflows/answers.ts";

export interface AlertSender {
  /** Throws unless the receiver accepts it. The URL may be a secret: the log names it, the error does not. */
  send(alert: AlertRecord, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const TOTAL_MS = 10_000;

/** The URL is the operator's: it may be in a private network, whatever the address policy for targets says. */
export function createAlertSender(options: {
  url: string;
  secret: string | null;
  clock: Clock;
  log: Log;
  userAgent: string;
}): AlertSender {
  const { url, secret, clock, log, userAgent } = options;
  const policy = { privateNetworks: true, listed: [] };
  const http = createHttpClient({ policy, clock, userAgent, limits: { connectMs: TOTAL_MS, totalMs: TOTAL_MS } });
  return {
    async send(alert, signal) {
      const { id, kind, subject, message, detail } = alert;
      const created_at = isoOf(alert.createdAt);
      const body = JSON.stringify({ id, kind, subject, message, detail, created_at });
      const headers = { "content-type": "application/json", ...webhookHeaders({ id, body, now: clock.now() }, secret) };
      const stop = signal === undefined ? {} : { signal };
      try {
        const request = { url, method: "POST", headers, body, followRedirects: () => false, ...stop } as const;
        requireSuccess(await http.fetch(request, discardBody), "the alert was rejected", clock);
      } catch (error) {
        signal?.throwIfAborted();
        log.warn("the receiver rejected an alert", { alert: id, error: messageOf(error) });
        throw withoutAddress(error);
      }
    },
    close: () => http.close(),
  };
}

function withoutAddress(error: unknown): Error {
  if (!(error instanceof FetchFailure)) return new Error("the alert could not be sent; see the log");
  const { reason, httpStatus: status } = error.failure;
  if (status === undefined) return new Error(`the receiver is unreachable (${reason}); see the log`);
  const redirect = reason === "bad_redirect" ? ", and redirects are not followed" : "";
  return new Error(`the alert was rejected: the receiver answered ${status}${redirect}`);
}
