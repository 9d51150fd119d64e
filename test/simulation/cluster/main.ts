import { parseArgs } from "node:util";
import { type ClusterPlan, clusterPlan } from "./plan.ts";
import { type ClusterReport, simulate, tableOf } from "./report.ts";

/** What can be handed in, as the figures of a benchmark can. */
const OPTIONS = {
  "sites-per-worker": (value: number, workers: number) => ({ sites: Math.round(value * workers) }),
  "pages-per-site": (value: number) => ({ pagesPerSite: value }),
  slots: (value: number) => ({ slots: value }),
  "latency-ms": (value: number) => ({ latencyMs: value }),
  "lease-seconds": (value: number) => ({ leaseTtlMs: value * 1000 }),
  "write-ms": (value: number) => ({ writeMs: value }),
  "row-us": (value: number) => ({ rowUs: value }),
  "gather-ms": (value: number) => ({ gatherMs: value }),
  "rows-per-page": (value: number) => ({ rowsPerPage: value }),
  kill: (value: number) => ({ killed: value }),
  freeze: (value: number) => ({ frozen: value }),
  seed: (value: number) => ({ seed: value }),
} satisfies Record<string, (value: number, workers: number) => Partial<ClusterPlan>>;

/** `npm run simulate -- --workers 10,100,1000 [--NAME VALUE …]`: a column for each size. */
export function runClusterSimulation(args: string[]): void {
  const names = ["workers", ...Object.keys(OPTIONS)];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  const { values } = parseArgs({ args, options });
  const reports = String(values["workers"])
    .split(",")
    .map((text): ClusterReport => {
      const workers = numberIn("workers", text);
      const given = Object.entries(OPTIONS).map(([name, apply]) => {
        const value = values[name];
        return value === undefined ? {} : apply(numberIn(name, String(value)), workers);
      });
      return simulate(clusterPlan(workers, Object.assign({}, ...given) as Partial<ClusterPlan>));
    });
  process.stdout.write(tableOf(reports));
  const violations = reports.flatMap((report) => report.violations);
  if (violations.length > 0) {
    process.stderr.write(`${violations.slice(0, 10).join("\n")}\n`);
    process.exitCode = 1;
  }
}

function numberIn(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0 || text.trim() === "")
    throw new Error(`--${name}: expected a number, got "${text}"`);
  return value;
}
