import type { Clock } from "../../base/clock.ts";
import { webhookHeaders } from "../../base/webhook-signature.ts";
import type { HttpDelivery } from "../../domain/notify/channel-kind.ts";
import type { Message } from "../../domain/notify/message.ts";
import { oneLine } from "../../domain/notify/text.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { BodySink } from "../../net/http.ts";
import type { HttpClient } from "../../net/http-client.ts";
import { requireSuccess } from "../../workflows/answers.ts";

export const HTTP_TRY_MS = 10_000;

const MOST_EXPLAINED = 4096;

/** Keeps the beginning of the body of a rejection, and nothing else: an accepted message may be answered with anything. */
class ExplanationSink implements BodySink {
  text = "";

  start({ status }: { status: number }): void | "discard" {
    return status >= 200 && status < 400 ? "discard" : undefined;
  }

  write(chunk: Buffer): void {
    if (this.text.length < MOST_EXPLAINED) this.text += chunk.toString("utf8", 0, MOST_EXPLAINED);
  }
}

/** The URL may be a secret: no error has it. */
export async function sendByHttp(
  { http, clock, secret }: { http: HttpClient; clock: Clock; secret: string | null },
  { url, headers, body, sign }: HttpDelivery,
  { message, reason }: { message: Message; reason: ((body: string) => string | null) | null },
  signal?: AbortSignal,
): Promise<void> {
  const marks = webhookHeaders(
    { id: message.id, body, now: clock.now() },
    sign === undefined ? null : (sign ?? secret),
  );
  const sink = new ExplanationSink();
  try {
    const result = await http.fetch(
      {
        url,
        method: "POST",
        headers: { ...headers, ...marks },
        body,
        followRedirects: () => false,
        ...(signal === undefined ? {} : { signal }),
      },
      sink,
    );
    requireSuccess(result, "the message was rejected", clock);
  } catch (error) {
    signal?.throwIfAborted();
    throw withoutUrl(error, reason?.(sink.text) ?? null);
  }
}

/** Keeps the time that the receiver asked for. */
function withoutUrl(error: unknown, explanation: string | null): Error {
  if (!(error instanceof FetchFailure)) return new Error("the message could not be sent", { cause: error });
  const { reason, httpStatus: status, retryAfterMs } = error.failure;
  if (status === undefined) return new FetchFailure(reason, unreachable(reason));
  const redirect = reason === "bad_redirect" ? "; redirects are not followed: use the final URL" : "";
  const why = explanation === null ? "" : `: ${oneLine(explanation)}`;
  return new FetchFailure(reason, `the receiver answered ${status}${why}${redirect}`, {
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

export function unreachable(reason: string): string {
  if (reason === "private_address")
    return "the receiver is not on the public internet; APP_NOTIFY_PRIVATE_NETWORKS can allow its network";
  return `the receiver is unreachable (${reason})`;
}
