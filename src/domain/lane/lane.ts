/** The lane of a site: the unit of politeness and ownership. */
export function laneOfSite(site: string): string {
  return `site:${site}`;
}

/** The lane of one shard of a site; the first one is the site's own lane. No host has a `#` in its name. */
export function laneOfShard(site: string, shard: number): string {
  return shard === 0 ? laneOfSite(site) : `${laneOfSite(site)}#${shard}`;
}

/** The site's lane of a shard's lane; other lanes are returned unchanged. */
export function laneWithoutShard(lane: string): string {
  const at = lane.startsWith("site:") ? lane.indexOf("#") : -1;
  return at === -1 ? lane : lane.slice(0, at);
}

/** The lane that the sites of a group share, because they are one server. */
export function laneOfGroup(group: string): string {
  return `group:${group}`;
}

export function isGroupName(name: string): boolean {
  return /^[\w.-]{1,100}$/.test(name);
}

/** The budget that tasks of one resolver share over all lanes. */
export function resolverKey(resolver: string): string {
  return `resolver:${resolver}`;
}

/** Configuration key for the limit of every other resolver. */
const ANY_RESOLVER = "*";

/** Null: no configured limit. `hasOwn`, because users choose the names of resolvers, such as `constructor`. */
export function configuredLimit(limits: Readonly<Record<string, number>>, resolver: string): number | null {
  for (const name of [resolver, ANY_RESOLVER]) if (Object.hasOwn(limits, name)) return limits[name] ?? null;
  return null;
}
