/** How long a run of one page waits for its first request on an idle cluster. */
import { print, verdictAtMost } from "../support/measure.ts";
import { BenchCluster, pause, printLoad } from "./cluster.ts";
import { Sites } from "./sites.ts";

const WANTED = { p50: 30, p99: 150 };
const SITES = 10;
/** Warm-up runs: the first ones meet cold caches and open connections. */
const WARM = 20;
/** Between the end of a run and the next one, so that the cluster is idle. */
const IDLE_MS = 100;

const now = () => Number(process.hrtime.bigint()) / 1e6;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const shown = (values: readonly number[]) =>
  [0.5, 0.9, 0.99, 1].map((share) => `${quantile(values, share).toFixed(1)}`).join(" / ");

export async function benchLatency(runs: number): Promise<boolean> {
  print(`\nlatency: ${runs} runs of one page, one after the other, on an idle cluster of 1 API and 2 workers`);
  printLoad();
  using sites = await Sites.start({ sites: SITES });
  await using cluster = await BenchCluster.start({ workers: 2 });
  const seen = new Map<string, (at: number) => void>();
  sites.onHit((path, at) => seen.get(path)?.(at));
  const fromCall: number[] = [];
  const fromAnswer: number[] = [];
  for (let run = -WARM; run < runs; run += 1) {
    const path = `/page/${run}`;
    const job = await cluster.post<{ id: string }>("/jobs", { target_url: sites.url((run + WARM) % SITES, path) });
    const hit = new Promise<number>((resolve) => seen.set(path, resolve));
    const called = now();
    const { id } = await cluster.post<{ id: string }>(`/jobs/${job.id}/runs`);
    const answered = now();
    const at = await hit;
    if (run >= 0) {
      fromCall.push(at - called);
      fromAnswer.push(Math.max(0, at - answered));
    }
    for (;;) {
      const { status } = await cluster.get<{ status: string }>(`/jobs/runs/${id}`);
      if (status === "completed") break;
      if (status === "failed" || status === "cancelled") throw new Error(`a run has ended as ${status}`);
      await pause(20);
    }
    await pause(IDLE_MS);
  }
  print(`ms from the API's answer to the first request, p50 / p90 / p99 / most: ${shown(fromAnswer)}`);
  print(`ms from the call to the first request,         p50 / p90 / p99 / most: ${shown(fromCall)}`);
  return [
    verdictAtMost("submit to first request, p50", quantile(fromAnswer, 0.5), WANTED.p50, " ms"),
    verdictAtMost("submit to first request, p99", quantile(fromAnswer, 0.99), WANTED.p99, " ms"),
  ].every(Boolean);
}
