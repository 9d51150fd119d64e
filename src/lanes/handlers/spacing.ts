import { countsForBreaker, dispositionOf } from "../../domain/run/classify.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { RobotsRules } from "../../pages/obey-robots.ts";
import { Requeue, type HandlerContext } from "./handler.ts";

/**
 * Applies the crawl delay of robots.txt to the page's lane. A page that started without the delay is requeued, so that of
 * ten pages that waited for the first robots.txt of their site none is fetched too soon.
 */
export function spacedByRobots(robots: RobotsRules, { keepDelay, mayAsk }: HandlerContext): RobotsRules {
  // The page itself is checked first; delays of other sites that redirects lead to do not concern this lane.
  let site: string | null = null;
  return {
    async check(url, signal, via) {
      site ??= siteOf(url);
      if (siteOf(url) !== site)
        return robots.check(url, signal, via).catch((error: unknown) => rethrowForOtherSite(error, via));
      const delayMs = await robots.check(url, signal, via);
      if (!keepDelay(delayMs)) throw new Requeue("robots.txt asks for a pause between requests");
      mayAsk();
      return delayMs;
    },
    mayFollow: (url, via) => robots.mayFollow(url, via),
  };
}

/** The page waits as well, but its own site has neither failed nor rate-limited us. */
function rethrowForOtherSite(error: unknown, via: Upstream | undefined): never {
  if (!(error instanceof FetchFailure)) throw error;
  // A failure of the proxy says nothing about any site.
  const isCounted =
    dispositionOf(error.failure) === "rate_limit" || (via === undefined && countsForBreaker(error.failure));
  if (!isCounted) throw error;
  const { message, retryAfterMs } = error.failure;
  throw new FetchFailure("robots_unreachable", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}
