/** Takes alerts to the address that the operator has named. */
import type { Clock } from "../base/clock.ts";
import { webhookHeaders } from "../base/webhook-signature.ts";
import { discardBody } from "../net/buffer-sink.ts";
import { createHttpClient } from "../net/http-client.ts";
import type { AlertRecord } from "../store/alert-port.ts";
import { requireSuccess } from "../workflows/answers.ts";

export interface AlertSender {
  /** Throws unless the receiver has taken it. */
  send(alert: AlertRecord, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const TOTAL_MS = 10_000;

/** The address is the operator's own: it may be in their network, whatever targets may be. */
export function createAlertSender(options: {
  url: string;
  secret: string | null;
  clock: Clock;
  userAgent: string;
}): AlertSender {
  const { url, secret, clock, userAgent } = options;
  const policy = { privateNetworks: true, listed: [] };
  const http = createHttpClient({ policy, clock, userAgent, limits: { connectMs: TOTAL_MS, totalMs: TOTAL_MS } });
  return {
    async send(alert, signal) {
      const { id, kind, subject, message, detail } = alert;
      const created_at = new Date(alert.createdAt).toISOString();
      const body = JSON.stringify({ id, kind, subject, message, detail, created_at });
      const answer = await http.fetch(
        {
          url,
          method: "POST",
          headers: { "content-type": "application/json", ...webhookHeaders({ id, body, now: clock.now() }, secret) },
          body,
          followRedirects: () => false,
          ...(signal === undefined ? {} : { signal }),
        },
        discardBody,
      );
      requireSuccess(answer, "the alert was not taken", clock);
    },
    close: () => http.close(),
  };
}
