import { OrbError } from "../../base/errors.ts";
import type { RunState } from "../../domain/states.ts";
import { shownUrl } from "../../domain/url.ts";
import type { RunRecord } from "../../store/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { cancelRun } from "../runs/control.ts";
import { type CrawlStatus, type CrawlView, toCrawlView } from "./view.ts";

export async function requireCrawl({ store }: OrchestratorDeps, id: string): Promise<RunRecord> {
  const run = await store.run(id);
  if (run === null || run.kind !== "crawl") throw new OrbError("not_found", `there is no crawl with the id ${id}`);
  return run;
}

async function viewOf({ store, clock }: OrchestratorDeps, run: RunRecord): Promise<CrawlView> {
  const [{ totals }, errors] = [await store.overview(run.id, 0), await store.runErrors(run.id)];
  return toCrawlView(run, totals, errors, clock.now());
}

export async function showCrawl(deps: OrchestratorDeps, id: string): Promise<CrawlView> {
  return viewOf(deps, await requireCrawl(deps, id));
}

export async function listCrawls(
  deps: OrchestratorDeps,
  filter: { status?: CrawlStatus; after?: string; limit: number },
): Promise<CrawlView[]> {
  const { status, ...rest } = filter;
  const state: RunState | undefined = status === "pending" ? "queued" : status;
  const runs = await deps.store.runs({ ...rest, kind: "crawl", ...(state === undefined ? {} : { status: [state] }) });
  return Promise.all(runs.map((run) => viewOf(deps, run)));
}

export async function cancelCrawl(deps: OrchestratorDeps, id: string): Promise<CrawlView> {
  await requireCrawl(deps, id);
  return viewOf(deps, await cancelRun(deps, id));
}

export interface CrawlErrorView {
  url: string | null;
  failure_code: string;
  failure_reason: string;
  message: string;
  attempts: number;
}

/** Pages that failed, oldest first. */
export async function listCrawlErrors(
  { store }: OrchestratorDeps,
  id: string,
  limit: number,
): Promise<CrawlErrorView[]> {
  const tasks = await store.tasks(id, { states: ["failed"], pagesOnly: true, limit });
  return tasks.map((task) => ({
    url: task.url === null ? null : shownUrl(task.url),
    failure_code: task.failure?.code ?? "unknown",
    failure_reason: task.failure?.reason ?? "internal",
    message: task.failure?.message ?? "",
    attempts: task.attempts.length,
  }));
}

export interface CrawlHealth {
  healthy: boolean;
  active_tasks: number;
  pending_tasks: number;
  max_concurrent_tasks: number;
  available_slots: number;
  blocked_domains: { domain: string; failures: number; reopens_at: string | null }[];
  error_counts: CrawlView["errors"];
  error_rate: number;
  pages_per_second: number;
}

const MOST_COUNTED = 1000;

/** How all crawls together are getting on. */
export async function crawlHealth(deps: OrchestratorDeps & { maxConcurrentCrawls: number }): Promise<CrawlHealth> {
  const { store, clock, maxConcurrentCrawls: most } = deps;
  const active = await listCrawls(deps, { status: "running", limit: MOST_COUNTED });
  const pending = await store.runs({ kind: "crawl", status: ["queued"], limit: MOST_COUNTED });
  const blocked = (await store.sites()).filter(({ breaker }) => (breaker.openUntil ?? 0) > clock.now());
  const sum = (pick: (view: CrawlView) => number) => active.reduce((total, view) => total + pick(view), 0);
  const [good, bad] = [sum((view) => view.completed_items), sum((view) => view.failed_items)];
  return {
    healthy: true,
    active_tasks: active.length,
    pending_tasks: pending.length,
    max_concurrent_tasks: most,
    available_slots: Math.max(0, most - active.length),
    blocked_domains: blocked.map(({ site, breaker }) => ({
      domain: site,
      failures: breaker.failures,
      reopens_at: breaker.openUntil === null ? null : new Date(breaker.openUntil).toISOString(),
    })),
    error_counts: {
      timeout: sum((view) => view.errors.timeout),
      connection: sum((view) => view.errors.connection),
      general: sum((view) => view.errors.general),
    },
    error_rate: good + bad === 0 ? 0 : bad / (good + bad),
    pages_per_second: Math.round(sum((view) => view.pages_per_second) * 100) / 100,
  };
}
