import { isoOf } from "../../base/iso.ts";
import { crawlDelaySeconds, isAllowed, parseRobots, ruleText, sitemaps } from "../../domain/site/robots.ts";
import { robotsText } from "../../domain/site/robots-lines.ts";
import type { RobotsCopy } from "../../store/ports/robots-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { siteName } from "./sites.ts";

interface RobotsDeps extends OrchestratorDeps {
  /** The user-agent token that we match in robots.txt. */
  robotsName: string;
}

/** The last good robots.txt of an origin, and its rules for us. */
interface RobotsView {
  origin: string;
  fetched_at: string;
  /** As received; empty: there was none, which allows everything. */
  text: string;
  crawl_delay_seconds: number | null;
  sitemaps: string[];
  /** Those for us, longest first: the first match decides. */
  rules: string[];
  /** Whether the requested path may be fetched; null: no path requested. */
  allowed: boolean | null;
}

export interface SiteRobotsView {
  site: string;
  user_agent: string;
  /** A site may have two origins: http and https. */
  origins: RobotsView[];
}

/** Returns stored copies; fetches nothing. */
export async function showRobots(deps: RobotsDeps, name: string, path: string | null): Promise<SiteRobotsView> {
  const site = siteName(name, "path.site");
  const copies = await Promise.all(["https", "http"].map((scheme) => deps.store.robots(`${scheme}://${site}`)));
  return {
    site,
    user_agent: deps.robotsName,
    origins: copies.flatMap((copy) => (copy === null ? [] : [toView(deps, copy, path)])),
  };
}

function toView({ robotsName }: RobotsDeps, { origin, body, fetchedAt }: RobotsCopy, path: string | null): RobotsView {
  const robots = parseRobots(body, robotsName, `${origin}/robots.txt`);
  return {
    origin,
    fetched_at: isoOf(fetchedAt),
    text: robotsText(body),
    crawl_delay_seconds: crawlDelaySeconds(robots),
    sitemaps: [...sitemaps(robots)],
    rules: robots.rules.map(ruleText),
    allowed: path === null ? null : isAllowed(robots, path),
  };
}
