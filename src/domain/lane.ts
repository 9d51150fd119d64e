/** The lane of a site: the unit of politeness and ownership. */
export function laneOfSite(site: string): string {
  return `site:${site}`;
}

/** The site of a site's lane; other lanes are shown by their whole name. */
export function siteOfLane(lane: string): string {
  return lane.startsWith("site:") ? lane.slice("site:".length) : lane;
}

/** The budget that tasks of one resolver share over all lanes. */
export function resolverKey(resolver: string): string {
  return `resolver:${resolver}`;
}
