/** Lanes, items and resolvers of the queue in the words of people. */
import type { Operations, Worker } from "../api/types.ts";

export type Lane = Operations["listLanes"]["answer"][number];

/** `site:shop.example#2` → what it is and what it is called. */
export function laneName(lane: string): { kind: string; name: string } {
  const cut = lane.indexOf(":");
  if (cut < 0) return { kind: "Lane", name: lane };
  const kind = { site: "Site", group: "Group", step: "Workflow step" }[lane.slice(0, cut)] ?? "Lane";
  return { kind, name: lane.slice(cut + 1) };
}

/** Who has a lane in hand, in a few words. */
export function ownerOf({ owned, worker_id }: Pick<Lane, "owned" | "worker_id">, workers: readonly Worker[]): string {
  if (!owned) return "nobody at the moment";
  const worker = workers.find(({ id }) => id === worker_id);
  return worker === undefined ? "a process" : `${worker.machine}, process ${worker.pid}`;
}

/** The resolvers that there are: those of the configuration (`api=3,images=10` or JSON), and those that items name. */
export function resolverNames(configured: string | null, items: readonly { resolver: string | null }[]): string[] {
  const named = [...(configured ?? "").matchAll(/"?([A-Za-z0-9_.:-]+?)"?\s*[=:]\s*\d+/g)].map(
    (match) => match[1] ?? "",
  );
  const used = items.flatMap(({ resolver }) => (resolver === null ? [] : [resolver]));
  return [...new Set([...named, ...used])].filter((name) => name !== "").toSorted();
}
