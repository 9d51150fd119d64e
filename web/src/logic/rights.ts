/** What the signed-in caller may do, so that pages do not offer the rest. The server decides. */
import { ADMIN, OPERATOR, ROUTES, UNLIMITED } from "../../../src/api-client/operations.ts";

type Role = "viewer" | "operator" | "admin";

export interface Rights {
  name: string;
  role: Role;
  jobs: readonly string[] | null;
  sites: readonly string[] | null;
  tags: readonly string[] | null;
}

const ROLES: readonly Role[] = ["viewer", "operator", "admin"];

export function roleOf(name: keyof typeof ROUTES): Role {
  const route = ROUTES[name];
  return ADMIN.has(route) ? "admin" : OPERATOR.has(route) ? "operator" : "viewer";
}

export const isLimited = ({ jobs, sites, tags }: Rights) => jobs !== null || sites !== null || tags !== null;

/** Why the caller may not make this call; null: it may, or its rights are not known yet. */
export function refusalOf(rights: Rights | null, name: keyof typeof ROUTES): string | null {
  if (rights === null) return null;
  const needed = roleOf(name);
  if (ROLES.indexOf(rights.role) < ROLES.indexOf(needed))
    return `Only for the role ${needed}${needed === "operator" ? " or admin" : ""}. Your role is ${rights.role}.`;
  if (isLimited(rights) && UNLIMITED.has(ROUTES[name]))
    return "Not available: your key is limited to some jobs, sites or tags.";
  return null;
}

/** The limits of a key in one line; null: it has none. */
export function limitsText(limits: Omit<Rights, "name" | "role">, jobName: (id: string) => string): string | null {
  const parts = [
    limits.jobs === null ? "" : `jobs: ${limits.jobs.map(jobName).join(", ")}`,
    limits.sites === null ? "" : `sites: ${limits.sites.join(", ")}`,
    limits.tags === null ? "" : `tags: ${limits.tags.join(", ")}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? null : parts.join(" · ");
}
