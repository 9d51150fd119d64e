/** The lane of a site: the unit of politeness and ownership. */
export function laneOfSite(site: string): string {
  return `site:${site}`;
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
