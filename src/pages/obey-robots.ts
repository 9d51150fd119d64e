import { FetchFailure } from "../domain/run/failure.ts";
import type { PageAnswer, PageRequest, PageStrategy } from "../fetch/page.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import { DEFAULT_LIMITS } from "../net/http.ts";

/** What sites ask of us in robots.txt. */
export interface RobotsRules {
  /**
   * Throws a FetchFailure when the page is disallowed; returns the crawl delay in milliseconds. robots.txt is fetched
   * through the proxy of the page.
   */
  check(url: string, signal: AbortSignal, via?: Upstream): Promise<number>;
  /** Whether a redirect may be followed, as far as is known without asking; null: that has to be asked. */
  mayFollow(url: URL, via?: Upstream): boolean | null;
}

/**
 * Fetches a page whose redirects robots.txt may disallow. A redirect to an origin with unknown rules is followed after
 * they are known: a plain request continues from there, the other strategies, which have more state than a URL, start
 * over.
 */
export async function fetchObeying(
  strategy: PageStrategy,
  request: PageRequest & { signal: AbortSignal },
  robots: RobotsRules,
): Promise<PageAnswer> {
  let next = request;
  let before: PageAnswer | null = null;
  for (let asked = 0; ; asked += 1) {
    const hop = await fetchToUnknown(strategy, next, robots);
    const answer: PageAnswer | null = hop.answer === null ? null : joined(before, hop.answer);
    if (hop.unknown === null) return answer!;
    if (asked >= DEFAULT_LIMITS.maxRedirects)
      throw new FetchFailure("too_many_redirects", `more than ${asked} redirects to other origins`);
    try {
      await robots.check(hop.unknown.href, request.signal, request.via);
    } catch (error) {
      // Then it ends where it is, as it does when that is known before.
      if (answer !== null && error instanceof FetchFailure && error.failure.reason === "robots_disallowed")
        return answer;
      throw error;
    }
    if (strategy.name !== "http" || answer?.notFollowed === undefined) continue;
    before = answer;
    next = {
      ...request,
      url: answer.notFollowed,
      // They belong to the origin that was left.
      credentials: null,
      timeoutMs: Math.max(1, request.timeoutMs - answer.durationMs),
      maxRedirects: DEFAULT_LIMITS.maxRedirects - answer.redirects.length - 1,
    };
  }
}

/** The answer, and the redirect target with unknown rules where it stopped. */
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
      // A page that could not go where it leads says nothing yet.
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

/** Both as one fetch, in the order in which they were made. */
function joined(before: PageAnswer | null, answer: PageAnswer): PageAnswer {
  if (before === null) return answer;
  const { status, finalUrl, redirects, notFollowed, durationMs, requests, exchanges } = before;
  return {
    ...answer,
    redirects: [...redirects, { status, from: finalUrl, to: notFollowed! }, ...answer.redirects],
    durationMs: durationMs + answer.durationMs,
    requests: requests + answer.requests,
    ...(answer.exchanges === undefined ? {} : { exchanges: [...(exchanges ?? []), ...answer.exchanges] }),
  };
}
