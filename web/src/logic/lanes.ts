/** Names of lanes, items and concurrency keys for display. */
import type { Operations, Worker } from "../api/types.ts";
import { siteHref } from "./sites.ts";

export type Lane = Operations["listLanes"]["answer"][number];

/** `site:shop.example#2` → kind and name; a step is named by its workflow and its own name. */
export function laneName({ lane, step }: Pick<Lane, "lane" | "step">): { kind: string; name: string } {
  if (step !== null) {
    const name = `${step.workflow_name ?? "Workflow"} › ${step.step_name}`;
    return { kind: step.place === null ? "Workflow step" : `Workflow step, entry ${step.place + 1}`, name };
  }
  const cut = lane.indexOf(":");
  // Without the step's name, its long id is useless.
  if (lane.startsWith("step.")) return { kind: "Workflow step", name: "A step of a workflow" };
  if (cut < 0) return { kind: "Lane", name: lane };
  const kind = { site: "Site", group: "Group" }[lane.slice(0, cut)] ?? "Lane";
  return { kind, name: lane.slice(cut + 1) };
}

/** The page where it can be inspected and changed; null: none. */
export function laneHref({ sites, step }: Pick<Lane, "sites" | "step">): string | null {
  if (step !== null) return `/workflows/${step.workflow_id}?step=${encodeURIComponent(step.step_name)}`;
  const [only] = sites;
  return sites.length === 1 && only !== undefined ? siteHref(only) : null;
}

/** The owner of a lane, and its machine. */
export function ownerOf(
  { owned, worker_id }: Pick<Lane, "owned" | "worker_id">,
  workers: readonly Worker[],
): { name: string; machine: string | null } {
  if (!owned) return { name: "none", machine: null };
  const worker = workers.find(({ id }) => id === worker_id);
  return worker === undefined
    ? { name: "a process", machine: null }
    : { name: `process ${worker.pid}`, machine: worker.machine };
}

/** All concurrency keys: those of the configuration (`api=3,images=10` or JSON), and those of items. */
export function concurrencyKeys(
  configured: string | null,
  items: readonly { concurrency_key: string | null }[],
): string[] {
  const named = [...(configured ?? "").matchAll(/"?([A-Za-z0-9_.:-]+?)"?\s*[=:]\s*\d+/g)].map(
    (match) => match[1] ?? "",
  );
  const used = items.flatMap(({ concurrency_key: key }) => (key === null ? [] : [key]));
  return [...new Set([...named, ...used])].filter((name) => name !== "").toSorted();
}
