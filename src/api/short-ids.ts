/**
 * Addresses take the beginning of an id, and `last`, wherever they take the id of a run, a crawl or a workflow. What is
 * deleted or cancelled for good is named in full: a moment later they may mean another one.
 */
import { fullId, type NamedThing } from "../orchestrator/short-ids.ts";
import type { ApiDeps } from "./deps.ts";
import type { ApiInstance } from "./instance.ts";

export function acceptShortIds(api: ApiInstance, deps: ApiDeps): void {
  api.addHook("preValidation", async (request) => {
    if (request.method === "DELETE") return;
    const params = request.params as Record<string, string>;
    for (const name of Object.keys(params)) {
      const what = namedBy(name, request.routeOptions.url ?? "");
      if (what !== null) params[name] = await fullId(deps, what, params[name] ?? "");
    }
  });
}

function namedBy(name: string, path: string): NamedThing | null {
  if (name === "run_id") return "run";
  if (name === "workflow_id") return "workflow";
  // The task of a run has no beginning of its own to be found by.
  return name === "task_id" && !path.includes(":run_id") ? "crawl" : null;
}
