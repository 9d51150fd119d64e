/** Which role each route needs, from its own declaration. */
import type { RouteOptions } from "fastify";
import { includesRole, type Role } from "../../domain/access/roles.ts";
import type { ApiInstance, ApiRequest } from "../instance.ts";
import { ApiProblem } from "../problems.ts";

export interface DeclaredRoute {
  method: string;
  url: string;
  /** Null: needs no key. */
  role: Role | null;
  /** Whether a key with limits may use it, within them. */
  limited: boolean;
}

declare module "fastify" {
  interface FastifyInstance {
    declaredRoutes: DeclaredRoute[];
  }
}

/** Parameters that name a run or a job: the store finds only those within the limits of the key. */
const OF_RUNS = /\/:(run_id|workflow_id)(\/|$)|^\/scraping\/tasks\/:task_id/;
const OF_JOBS = /\/:job_id(\/|$)/;

/** Whether a key with limits may make this call. */
export function isLimitable(url: string, declared: boolean | undefined): boolean {
  return declared ?? (OF_RUNS.test(url) || OF_JOBS.test(url));
}

/** A server with a route without a role does not start. Must be called before any route is added. */
export function collectRoles(api: ApiInstance): void {
  const routes: DeclaredRoute[] = [];
  api.decorate("declaredRoutes", routes);
  const added: RouteOptions[] = [];
  api.addHook("onRoute", (route) => void added.push(route));
  // Not before: a plugin may complete its routes.
  api.addHook("onReady", async () => {
    for (const { config = {}, method, url } of added) {
      const { open = false, role, limited } = config;
      if (!open && role === undefined)
        throw new Error(`${[method].flat().join(", ")} ${url} declares no role: add config: { role }`);
      for (const one of [method].flat())
        routes.push({
          method: one,
          url,
          role: open ? null : (role as Role),
          limited: open || isLimitable(url, limited),
        });
    }
  });
}

export function requireRole(request: ApiRequest): void {
  const { principal, routeOptions } = request;
  const { role, limited } = routeOptions.config;
  // Unknown paths have none.
  if (principal === null || role === undefined) return;
  refuseLesserRole(request, role, "this call");
  if (principal.limits !== null && !isLimitable(routeOptions.url ?? "", limited))
    throw new ApiProblem(
      "key_limited",
      `this call is not available to ${nameOf(request)}, which is limited to some jobs, sites or tags`,
    );
}

/** For what a call does only with some bodies; `what` names it. */
export function refuseLesserRole(request: ApiRequest, role: Role, what: string): void {
  const { principal } = request;
  if (principal === null || includesRole(principal.role, role)) return;
  throw new ApiProblem(
    "role_missing",
    `${what} needs the role ${role}; ${nameOf(request)} has the role ${principal.role}`,
  );
}

function nameOf({ principal }: ApiRequest): string {
  return principal?.kind === "key" ? `the key ${principal.name}` : (principal?.name ?? "the caller");
}
