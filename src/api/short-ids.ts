/**
 * Paths accept a prefix of an id, and `last`, for runs, crawls and workflows. Irreversible actions need the full id: a
 * moment later a prefix or `last` may mean another run.
 */
import { fullId, type NamedThing } from "../orchestrator/short-ids.ts";
import type { ApiDeps } from "./deps.ts";
import type { ApiInstance } from "./instance.ts";

export function acceptShortIds(api: ApiInstance, deps: ApiDeps): void {
  api.addHook("preValidation", async (request) => {
    // A prefix may also be that of a run that a key with limits does not see.
    if (request.method === "DELETE" || (request.principal?.limits ?? null) !== null) return;
    const params = request.params as Record<string, string>;
    for (const name of Object.keys(params)) {
      const resource = namedBy(name, request.routeOptions.url ?? "");
      if (resource !== null) params[name] = await fullId(deps, resource, params[name] ?? "");
    }
  });
}

function namedBy(name: string, path: string): NamedThing | null {
  if (name === "run_id") return "run";
  if (name === "workflow_id") return "workflow";
  // A task of a run has no short id.
  return name === "task_id" && !path.includes(":run_id") ? "crawl" : null;
}
