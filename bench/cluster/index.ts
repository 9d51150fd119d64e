import { benchCost } from "./cost.ts";
import { benchLatency } from "./latency.ts";
import { benchLeases } from "./leases.ts";
import { benchMemory } from "./memory.ts";
import { benchScaling } from "./scaling.ts";
import { benchWriters } from "./writers.ts";

export const defaultRounds = 1;

/**
 * Runs all parts, each on its own cluster: `--part NAME` measures one of them, `--part small` is a quick pass over all.
 */
export async function run(
  _rounds: number,
  { part = "all", pages }: { part?: string; pages?: string },
): Promise<boolean> {
  const small = part === "small";
  const known = Number(pages ?? (small ? 20_000 : 1_000_000));
  const crawled = Number(pages ?? (small ? 500 : 6000));
  const parts: Record<string, () => Promise<boolean>> = {
    latency: () => benchLatency(small ? 30 : 200),
    scaling: () => benchScaling(small ? 5 : 20),
    writers: () => (small ? benchWriters(5, [2]) : benchWriters(12)),
    leases: () => (small ? benchLeases(10, 5) : benchLeases(600)),
    memory: () => benchMemory(known, small ? 10 : 60),
    cost: () => benchCost(crawled),
  };
  const chosen = small || part === "all" ? Object.values(parts) : [parts[part]];
  const results: boolean[] = [];
  for (const bench of chosen) {
    if (bench === undefined) throw new Error(`--part: expected ${Object.keys(parts).join(", ")} or small`);
    results.push(await bench());
  }
  return results.every(Boolean);
}
