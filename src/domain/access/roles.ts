/** What a caller may do; each role includes the ones before it. */
export const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export const ROLE_MEANINGS: Readonly<Record<Role, string>> = {
  viewer: "reads",
  operator: "also starts, stops and changes jobs and runs",
  admin: "also keys, settings, proxies and sessions",
};

export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
