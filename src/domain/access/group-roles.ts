/** Which role the groups of a person give, by APP_AUTH_ROLES. */
import { includesRole, type Role } from "./roles.ts";

/** Roles by group. */
export type GroupRoles = Readonly<Record<string, Role>>;

/** As a group: everybody who can sign in. */
export const EVERYBODY = "*";

/** Null: the group gives none. */
export function roleOfGroup(group: string, roles: GroupRoles): Role | null {
  return Object.hasOwn(roles, group) ? (roles[group] ?? null) : null;
}

/** The group with the highest role; null: none gives one. */
export function grantingGroup(groups: readonly string[], roles: GroupRoles): string | null {
  let best: { group: string; role: Role } | null = null;
  for (const group of [EVERYBODY, ...groups]) {
    const role = roleOfGroup(group, roles);
    if (role !== null && (best === null || !includesRole(best.role, role))) best = { group, role };
  }
  return best?.group ?? null;
}
