import { dispositionOf } from "../../domain/classify.ts";
import { FetchFailure } from "../../domain/failure.ts";
import { siteOf } from "../../domain/url.ts";
import type { RobotsRules } from "../../pages/obey-robots.ts";
import { HandBack, type HandlerContext } from "./handler.ts";

/**
 * robots.txt together with the lane of the page: a delay that it asks for is kept from now on, and a page that was
 * started without it goes back to the queue. So of ten pages that waited for the first robots.txt of their site, none
 * is fetched too soon.
 */
export function spacedByRobots(robots: RobotsRules, { keepDelay, mayAsk }: HandlerContext): RobotsRules {
  // The page itself is asked about first; redirects may lead to other sites, whose wishes are not this lane's.
  let site: string | null = null;
  return {
    async check(url, signal, via) {
      site ??= siteOf(url);
      if (siteOf(url) !== site) return robots.check(url, signal, via).catch(ofAnotherSite);
      const delayMs = await robots.check(url, signal, via);
      if (!keepDelay(delayMs)) throw new HandBack("robots.txt asks for a pause between requests");
      mayAsk();
      return delayMs;
    },
    mayFollow: (url, via) => robots.mayFollow(url, via),
  };
}

/** The page waits, too, but its own site has asked for no patience. */
function ofAnotherSite(error: unknown): never {
  if (!(error instanceof FetchFailure) || dispositionOf(error.failure) !== "rate_limit") throw error;
  const { message, retryAfterMs } = error.failure;
  throw new FetchFailure("robots_unreachable", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}
