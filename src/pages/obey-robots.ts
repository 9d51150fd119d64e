import { FetchFailure } from "../domain/run/failure.ts";
import type { PageAnswer, PageRequest, PageStrategy } from "../fetch/page.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import { DEFAULT_LIMITS } from "../net/http.ts";

/** robots.txt rules of sites. */
export interface RobotsRules {
  /**
   * Throws a FetchFailure when the page is disallowed; returns the crawl delay in milliseconds. robots.txt is fetched
   * through the proxy of the page.
   */
  check(url: string, signal: AbortSignal, via?: Upstream): Promise<number>;
  /** Whether a redirect may be followed, by the rules known without a request; null: unknown. */
  mayFollow(url: URL, via?: Upstream): boolean | null;
}

/**
 * Fetches a page whose redirects robots.txt may disallow. A redirect to an origin with unknown rules is followed once
 * they are known: a plain request continues from there; the other strategies hold more state than a URL and start over.
 */
export async function fetchObeying(
  strategy: PageStrategy,
  request: PageRequest & { signal: AbortSignal },
  robots: RobotsRules,
): Promise<PageAnswer> {
  let next = request;
  let previous: PageAnswer | null = null;
  for (let checks = 0; ; checks += 1) {
    const result = await fetchToUnknown(strategy, next, robots);
    const answer: PageAnswer | null = result.answer === null ? null : joined(previous, result.answer);
    if (result.unknown === null) return answer!;
    if (checks >= DEFAULT_LIMITS.maxRedirects)
      throw new FetchFailure("too_many_redirects", `more than ${checks} redirects to other origins`);
    try {
      await robots.check(result.unknown.href, request.signal, request.via);
    } catch (error) {
      // Ends at the redirect, as with rules known in advance.
      if (answer !== null && error instanceof FetchFailure && error.failure.reason === "robots_disallowed")
        return answer;
      throw error;
    }
    if (strategy.name !== "http" || answer?.notFollowed === undefined) continue;
    previous = answer;
    next = {
      ...request,
      url: answer.notFollowed,
      // Bound to the origin that redirected.
      credentials: null,
      timeoutMs: Math.max(1, request.timeoutMs - answer.durationMs),
      maxRedirects: DEFAULT_LIMITS.maxRedirects - answer.redirects.length - 1,
    };
  }
}

/** The answer, and the redirect target with unknown rules at which it stopped. */
async function fetchToUnknown(
  strategy: PageStrategy,
  request: PageRequest,
  robots: RobotsRules,
): Promise<{ answer: PageAnswer | null; unknown: URL | null }> {
  let unknown: URL | null = null;
  const followRedirects = (from: URL, to: URL) => {
    if (request.followRedirects?.(from, to) === false) return false;
    const may = robots.mayFollow(to, request.via);
    if (may === null) unknown ??= to;
    return may === true;
  };
  const { wantsEvidence } = request;
  try {
    const answer = await strategy.fetch({
      ...request,
      followRedirects,
      // No evidence of a page whose redirect is still undecided.
      ...(wantsEvidence === undefined
        ? {}
        : { wantsEvidence: async (open) => unknown === null && (await wantsEvidence(open)) }),
    });
    return { answer, unknown };
  } catch (error) {
    if (unknown === null || !(error instanceof FetchFailure)) throw error;
    return { answer: null, unknown };
  }
}

/** Merges two consecutive answers into one. */
function joined(previous: PageAnswer | null, answer: PageAnswer): PageAnswer {
  if (previous === null) return answer;
  const { status, finalUrl, redirects, notFollowed, durationMs, requests, exchanges } = previous;
  return {
    ...answer,
    redirects: [...redirects, { status, from: finalUrl, to: notFollowed! }, ...answer.redirects],
    durationMs: durationMs + answer.durationMs,
    requests: requests + answer.requests,
    ...(answer.exchanges === undefined ? {} : { exchanges: [...(exchanges ?? []), ...answer.exchanges] }),
  };
}
