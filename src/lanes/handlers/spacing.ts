import type { RobotsRules } from "../../pages/get-page.ts";
import { HandBack, type HandlerContext } from "./handler.ts";

/**
 * robots.txt together with the lane of the page: a delay that it asks for is kept from now on, and a page that was
 * started without it goes back to the queue. So of ten pages that waited for the first robots.txt of their site, none
 * is fetched too soon.
 */
export function spacedByRobots(robots: RobotsRules, { keepDelay }: HandlerContext): RobotsRules {
  return {
    async check(url, signal) {
      const delayMs = await robots.check(url, signal);
      if (!keepDelay(delayMs)) throw new HandBack("robots.txt asks for a pause between requests");
      return delayMs;
    },
    mayFollow: (url) => robots.mayFollow(url),
  };
}
