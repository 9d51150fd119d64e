/** Delivers run events to the configured webhooks. */
import type { Clock } from "../base/clock.ts";
import { signatureOf, webhookHeaders } from "../base/webhook-signature.ts";
import type { WebhookTarget } from "../domain/run/webhooks.ts";
import type { AddressPolicy } from "../net/address.ts";
import { discardBody } from "../net/buffer-sink.ts";
import { createHttpClient } from "../net/http-client.ts";
import { requireSuccess } from "../workflows/answers.ts";

export interface WebhookSender {
  /** Throws unless the receiver accepts it. */
  send(
    target: WebhookTarget,
    call: { id: string; body: string; traceparent?: string },
    signal?: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

export const WEBHOOK_TRY_MS = 10_000;

/** Users choose these URLs: the address policy of targets applies. */
export function createWebhookSender(options: {
  policy: AddressPolicy;
  secret: string | null;
  clock: Clock;
  userAgent: string;
}): WebhookSender {
  const { policy, secret, clock, userAgent } = options;
  const limits = { connectMs: WEBHOOK_TRY_MS, totalMs: WEBHOOK_TRY_MS };
  const http = createHttpClient({ policy, clock, userAgent, limits });
  return {
    async send({ url, headers }, { id, body, traceparent }, signal) {
      const signed = secret === null ? {} : { "x-firecrawl-signature": signatureOf(body, secret) };
      const request = {
        url,
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(traceparent === undefined ? {} : { traceparent }),
          ...headers,
          ...webhookHeaders({ id, body, now: clock.now() }, secret),
          ...signed,
        },
        body,
        followRedirects: () => false,
        ...(signal === undefined ? {} : { signal }),
      } as const;
      requireSuccess(await http.fetch(request, discardBody), "the webhook was rejected", clock);
    },
    close: () => http.close(),
  };
}
