import { createHmac } from "node:crypto";

/** `sha256=` and the HMAC of a text. */
export function signatureOf(text: string, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
}

/**
 * Headers of every webhook call: an id that is the same for all attempts, so that the receiver can drop duplicates; and
 * with a secret X-Orb-Signature, `sha256=` and the HMAC of `TIMESTAMP.BODY`.
 */
export function webhookHeaders(
  { id, body, now }: { id: string; body: string; now: number },
  secret: string | null,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    "x-orb-id": id,
    "x-orb-timestamp": timestamp,
    ...(secret === null ? {} : { "x-orb-signature": signatureOf(`${timestamp}.${body}`, secret) }),
  };
}
