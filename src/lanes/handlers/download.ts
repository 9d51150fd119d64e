import type { Clock } from "../../base/clock.ts";
import { inSpan, type SpanAttributes } from "../../base/tracing.ts";
import { classifyStatus } from "../../domain/run/classify.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { parseRetryAfter } from "../../domain/lane/retry-after.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import { shownUrl, siteOf } from "../../domain/text/url.ts";
import type { FetchAnswer, Strategy } from "../../fetch/strategy.ts";
import type { HttpLimits } from "../../net/http.ts";
import type { TaskHandler } from "./handler.ts";

export interface DownloadDeps {
  strategy: Strategy;
  clock: Clock;
  limits: Partial<HttpLimits>;
  maxBodyBytes: number;
}

/** Downloads the task's URL. Default handler of queue items. */
export function downloadHandler(deps: DownloadDeps): TaskHandler {
  return {
    strategy: deps.strategy.name,
    async run(task, { signal, via }) {
      const url = task.nextUrl ?? task.url;
      if (url === null) throw new FetchFailure("url_not_allowed", "the task has no URL");
      const request = {
        url,
        partKey: task.id,
        maxBodyBytes: deps.maxBodyBytes,
        limits: deps.limits,
        signal,
        ...(via === undefined ? {} : { via }),
        // Another site has its own limits: the task moves to that site's lane.
        followRedirects: (from: URL, to: URL) => siteOf(from) === siteOf(to),
      };
      const answer = await inSpan("fetch", () => deps.strategy.fetch(request), aboutAnswer);
      return { ...judge(answer, url, deps.clock.now()), answeredMs: answer.headMs };
    },
  };
}

function aboutAnswer({ status, finalUrl, size }: FetchAnswer): SpanAttributes {
  return { "http.response.status_code": status, "url.full": shownUrl(finalUrl), "http.response.body.size": size };
}

function judge(answer: FetchAnswer, url: string, now: number): Handled {
  const httpStatus = answer.status;
  const hops = answer.redirects.map((redirect) => redirect.from);
  if (answer.notFollowed !== undefined) {
    return { kind: "moved", url: answer.notFollowed, redirects: [...hops, answer.finalUrl], httpStatus };
  }
  if (answer.notModified === true)
    return { kind: "skipped", why: "the server answered 304 (not modified)", httpStatus };
  const failure = classifyStatus(answer.status, parseRetryAfter(answer.headers["retry-after"] ?? "", now));
  if (failure !== null) return { kind: "failed", failure };
  if (answer.hash === null) return { kind: "skipped", why: "the server answered 204 (no content)", httpStatus };
  const { hash, size, contentType, finalUrl } = answer;
  return {
    kind: "completed",
    artifacts: [{ hash, size, contentType, url: finalUrl }],
    results: [],
    httpStatus,
    ...(finalUrl === url && hops.length === 0 ? {} : { detail: { final_url: finalUrl, redirects: hops } }),
  };
}
