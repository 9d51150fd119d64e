/** Responses of the user's own endpoints: webhooks and models. */
import type { Clock } from "../base/clock.ts";
import { classifyStatus } from "../domain/run/classify.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { parseRetryAfter } from "../domain/lane/retry-after.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { StepHttp } from "./step-kind.ts";

type Answer = Pick<Awaited<ReturnType<StepHttp["fetch"]>>, "status" | "url" | "headers">;

/** Throws unless the status is 2xx. `problem` names in a few words what another status means. */
export function requireSuccess({ status, url, headers }: Answer, problem: string, clock: Clock): void {
  const retryAfter = parseRetryAfter(headers["retry-after"] ?? "", clock.now());
  const refused = classifyStatus(status, retryAfter);
  if (refused === null) return;
  const location = URL.parse(headers["location"] ?? "", url);
  // Redirects are not followed: a sign-in page would look like success.
  if (status >= 300 && status < 400 && location !== null)
    throw new FetchFailure(
      "bad_redirect",
      `${problem}: the server answered ${status} (redirect to ${shownUrl(location.href)}). Redirects are not followed: use the final URL`,
      { httpStatus: status },
    );
  const { reason, message, httpStatus, retryAfterMs } = refused;
  throw new FetchFailure(reason, `${problem}: ${message}`, {
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
