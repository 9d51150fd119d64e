import { OrbError } from "../../base/errors.ts";
import { isoOrNull } from "../../base/iso.ts";
import type { RunState } from "../../domain/run/states.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import { RETRIES_READ, type RunErrorRecord } from "../../store/ports/progress-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { cancelRun } from "../runs/control.ts";
import { toErrorGroup } from "../runs/failed.ts";
import type { Degradation, Health } from "../health.ts";
import { type RunTotals, totalsOf as runTotalsOf } from "../runs/read.ts";
import { countUnderWay, listWaitingSites, type RunSiteDeps } from "../runs/sites.ts";
import { withoutDeleted } from "../runs/without-deleted.ts";
import { waitingOfRun } from "../runs/waiting.ts";
import type { CrawlDeps } from "../jobs/deps.ts";
import { type NoWorkers, noWorkersReason } from "../workers/worker-availability.ts";
import { type CrawlDetail, type CrawlStatus, type CrawlView, toCrawlView } from "./view.ts";

export async function requireCrawl({ store }: OrchestratorDeps, id: string): Promise<RunRecord> {
  const run = await store.run(id);
  if (run === null || run.kind !== "crawl") throw new OrbError("not_found", `there is no crawl with the id ${id}`);
  return run;
}

type ReadDeps = RunSiteDeps & Pick<CrawlDeps, "retention" | "maxConcurrentCrawls">;

async function viewOf(deps: ReadDeps, run: RunRecord): Promise<CrawlView> {
  const noWorkers = await noWorkersReason(deps);
  return viewAt(deps, run, await totalsOf(deps, run), noWorkers);
}

interface CrawlTotals extends RunTotals {
  retries: RunErrorRecord[];
}

async function totalsOf(deps: ReadDeps, run: RunRecord): Promise<CrawlTotals> {
  const totals = await runTotalsOf(deps, run);
  return { ...totals, retries: totals.counts.retrying === 0 ? [] : await deps.store.retryReasons(run.id) };
}

async function viewAt(
  deps: ReadDeps,
  run: RunRecord,
  { counts, errors, retries }: CrawlTotals,
  noWorkers: NoWorkers | null,
): Promise<CrawlView> {
  const { clock, retention } = deps;
  const underWay = await countUnderWay(deps, run, counts.running, noWorkers);
  const retrying = countRetrying(retries, counts.retrying);
  const waiting = await waitingOfRun(deps, run, noWorkers);
  return toCrawlView(run, counts, errors, { now: clock.now(), retention, underWay, retrying, waiting });
}

/** Counts tasks that retry after a failure; other delayed tasks wait for a proxy. */
function countRetrying(retries: readonly RunErrorRecord[], waiting: number): number {
  if (waiting === 0) return 0;
  const failed = retries.reduce((sum, { count }) => sum + count, 0);
  return Math.max(failed, waiting - Math.min(waiting, RETRIES_READ) + failed);
}

const MOST_GROUPS = 20;

function toCrawlGroup(record: RunErrorRecord): CrawlDetail["error_groups"][number] {
  const { example, ...group } = toErrorGroup(record);
  return { ...group, example: { ...example, page_task_id: example.task_id } };
}

export async function showCrawl(deps: ReadDeps, id: string): Promise<CrawlDetail> {
  const run = await requireCrawl(deps, id);
  const noWorkers = await noWorkersReason(deps);
  const totals = await totalsOf(deps, run);
  const view = await viewAt(deps, run, totals, noWorkers);
  const retries = view.retrying_items === 0 ? [] : totals.retries;
  const waiting = run.status === "running" ? await listWaitingSites(deps, run, noWorkers) : [];
  return {
    ...view,
    error_groups: totals.errors.slice(0, MOST_GROUPS).map(toCrawlGroup),
    retrying_groups: retries.slice(0, MOST_GROUPS).map(toCrawlGroup),
    waiting_sites: waiting.map(({ site, waiting_for, last_failure }) => ({ site, waiting_for, last_failure })),
  };
}

export async function listCrawls(
  deps: ReadDeps,
  filter: { status?: CrawlStatus; after?: string; limit: number },
): Promise<CrawlView[]> {
  const { status, ...rest } = filter;
  const state: RunState | undefined = status === "pending" ? "queued" : status;
  const runs = await deps.store.runs({ ...rest, kind: "crawl", ...(state === undefined ? {} : { status: [state] }) });
  const noWorkers = await noWorkersReason(deps);
  return withoutDeleted(runs.map(async (run) => viewAt(deps, run, await totalsOf(deps, run), noWorkers)));
}

export async function cancelCrawl(deps: ReadDeps, id: string): Promise<CrawlView> {
  await requireCrawl(deps, id);
  return viewOf(deps, await cancelRun(deps, id));
}

export interface CrawlErrorView {
  page_task_id: string;
  /** Alias of `page_task_id`: elsewhere in the crawl API `task_id` is the crawl. */
  task_id: string;
  url: string | null;
  failure_code: string;
  failure_reason: string;
  message: string;
  attempts: number;
}

/** Failed pages, oldest first. */
export async function listCrawlErrors(
  { store }: OrchestratorDeps,
  id: string,
  window: { after?: string; limit: number },
): Promise<CrawlErrorView[]> {
  const tasks = await store.tasks(id, { states: ["failed"], pagesOnly: true, ...window });
  return tasks.map((task) => ({
    page_task_id: task.id,
    task_id: task.id,
    url: task.url === null ? null : shownUrl(task.url),
    failure_code: task.failure?.code ?? "unknown",
    failure_reason: task.failure?.reason ?? "internal",
    message: task.failure?.message ?? "",
    attempts: task.attempts.length,
  }));
}

export interface CrawlHealth {
  healthy: boolean;
  /** What blocks crawls. */
  problems: string[];
  /** All degraded components, including `problems`. */
  degraded: Degradation[];
  active_tasks: number;
  pending_tasks: number;
  max_concurrent_tasks: number;
  available_slots: number;
  blocked_domains: { domain: string; failures: number; reopens_at: string | null }[];
  error_counts: CrawlView["errors"];
  error_rate: number;
  pages_per_second: number;
  window_seconds: number;
}

const MOST_BLOCKED = 100;

type CrawlHealthDeps = OrchestratorDeps & {
  maxConcurrentCrawls: number;
  health: Health;
};

/** Health of all crawls; counts and rates cover the last minutes. */
export async function crawlHealth(deps: CrawlHealthDeps): Promise<CrawlHealth> {
  const { store, clock, maxConcurrentCrawls: most } = deps;
  const now = clock.now();
  const { running: active, queued: pending } = await store.crawlCounts();
  const blocked = await store.openBreakers(now, MOST_BLOCKED);
  const { completed, failed, since } = await store.recentPages(now);
  const bad = Object.values(failed).reduce((sum, number) => sum + number, 0);
  const checks = await deps.health.checks();
  const problems = checks
    .filter(({ status }) => status === "failed")
    .map(({ name, message }) => `invalid ${name}: ${message}`);
  const noWorkers = active + pending > 0 ? await noWorkersReason(deps) : null;
  // A pause ends by itself.
  if (noWorkers !== null && noWorkers.reason !== "worker_paused") problems.push(noWorkers.message);
  return {
    healthy: problems.length === 0,
    problems,
    degraded: deps.health.degraded(checks),
    active_tasks: active,
    pending_tasks: pending,
    max_concurrent_tasks: most,
    available_slots: Math.max(0, most - active),
    blocked_domains: blocked.map(({ site, breaker }) => ({
      domain: site,
      failures: breaker.failures,
      reopens_at: isoOrNull(breaker.openUntil),
    })),
    error_counts: failed,
    error_rate: completed + bad === 0 ? 0 : bad / (completed + bad),
    pages_per_second: Math.round(((completed + bad) / Math.max(1, (now - since) / 1000)) * 100) / 100,
    window_seconds: (now - since) / 1000,
  };
}
