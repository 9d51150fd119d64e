/** The lane of a site: the unit of politeness and ownership. */
export function laneOfSite(site: string): string {
  return `site:${site}`;
}

/** The site of a site's lane; other lanes are shown by their whole name. */
export function siteOfLane(lane: string): string {
  return lane.startsWith("site:") ? lane.slice("site:".length) : lane;
}
