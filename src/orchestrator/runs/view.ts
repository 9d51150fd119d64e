import type { Actor } from "../../domain/access/caller.ts";
import type { MonitorCounts } from "../../domain/monitor/monitored-page.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { CrawlSnapshot } from "../../domain/crawl/crawl-options.ts";
import type { RunWarning, SkipCounts } from "../../domain/crawl/crawl-skips.ts";
import type { DegradedReason } from "../../domain/health/compare.ts";
import type { FailureCode, FailureReason } from "../../domain/run/failure.ts";
import type { ArtifactRole, Attempt } from "../../domain/run/outcome.ts";
import type { ChangeCounts } from "../../domain/page/page-change.ts";
import type { PageSnapshot } from "../../domain/run/recipe.ts";
import { NO_TASKS, type TaskCounts } from "../../domain/run/run-end.ts";
import { expiryOf, type RetentionRules } from "../../domain/run/retention.ts";
import {
  OPEN_TASK_STATES,
  type RunState,
  TASK_STATES,
  type TaskState,
  TERMINAL_RUN_STATES,
} from "../../domain/run/states.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { EventRecord, NewRun, RunRecord, TaskRecord } from "../../store/ports/port.ts";
import type { RunErrorRecord } from "../../store/ports/progress-port.ts";
import { without } from "../../base/without.ts";
import type { ArtifactRecord, ResultRecord } from "../../store/records/output-records.ts";
import { skippedOf, warningsOf } from "./skips.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";

/** A run as the API returns it. */
export interface RunView {
  id: string;
  job_id: string | null;
  /** The workflow step that started it. */
  parent: { run_id: string; task_id: string } | null;
  kind: NewRun["kind"];
  name: string | null;
  url: string | null;
  /** Start URLs of a crawl: the first ones, and their number. */
  urls: string[];
  url_count: number;
  site: string | null;
  status: RunState;
  generation: number;
  attempt: number;
  max_attempts: number | null;
  requested_strategy: string | null;
  resolved_strategy: string | null;
  strategy_evidence: Record<string, unknown> | null;
  failure_code: FailureCode | null;
  failure_reason: FailureReason | null;
  error_message: string | null;
  message: string | null;
  /** What blocks it. */
  waiting_for: WaitingView | null;
  stats: Record<string, unknown>;
  progress: number;
  /** Only of a saved crawl that ran before. */
  changes: ChangeCounts | null;
  /** What the monitor of its job found; null: none, or its pages are not compared yet. */
  monitor: MonitorCounts | null;
  /** Found but not fetched, by reason; null: not a crawl. */
  skipped: SkipCounts | null;
  /** What is worse about its records than in earlier runs of its job; null: nothing, or not known (yet). */
  degraded: DegradedReason[] | null;
  /** Why the results may not be what was requested. */
  warnings: RunWarning[];
  /** Who started it; null: the program itself, or a version that did not record it. */
  started_by: Actor | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** When it is deleted; null: it has not ended, or no time is set. */
  expires_at: string | null;
  /** Exempt from retention. */
  kept: boolean;
  /** Deleted when its job has this many newer runs; null: no such limit. */
  keep_runs: number | null;
}

/** Defaults of runs. */
export interface RunViewRules {
  defaultMaxAttempts: number;
  retention: RetentionRules;
}

/** `counts` are passed only where a run may have many tasks. */
export function toRunView(
  run: RunRecord,
  { defaultMaxAttempts, retention }: RunViewRules,
  {
    counts = NO_TASKS,
    waiting = null,
    errors = [],
  }: { counts?: TaskCounts; waiting?: WaitingView | null; errors?: readonly RunErrorRecord[] } = {},
): RunView {
  const recipe = (run.snapshot as Partial<PageSnapshot> | null)?.recipe;
  const { facts } = run;
  const { expiresAt, keepRuns } = expiryOf(run, retention);
  return {
    id: run.id,
    job_id: run.jobId,
    // Responses stored for idempotent replay may predate steps.
    parent: run.parent ? { run_id: run.parent.runId, task_id: run.parent.taskId } : null,
    kind: run.kind as NewRun["kind"],
    name: run.name,
    url: run.url === null ? null : shownUrl(run.url),
    ...startsOf(run),
    site: run.site,
    status: run.status,
    generation: run.generation,
    attempt: facts.attempt ?? 1,
    // Steps have their own limits.
    max_attempts: run.maxAttempts ?? (run.kind === "workflow" ? null : defaultMaxAttempts),
    requested_strategy: recipe?.strategy ?? null,
    resolved_strategy: facts.resolved_strategy ?? null,
    strategy_evidence: (facts.strategy_evidence ?? null) as RunView["strategy_evidence"],
    failure_code: facts.failure_code ?? null,
    failure_reason: facts.failure_reason ?? null,
    error_message: facts.error_message ?? null,
    message: run.message,
    waiting_for: waiting,
    stats: { ...facts.stats },
    progress: progressOf(run, counts),
    changes: facts.changes ?? null,
    monitor: facts.monitor ?? null,
    skipped: run.kind === "crawl" ? skippedOf(run, counts, errors) : null,
    // Stored responses may predate it.
    degraded: run.degraded ?? null,
    warnings: warningsOf(run),
    started_by: run.startedBy ?? null,
    created_at: isoOf(run.createdAt),
    started_at: isoOrNull(run.startedAt),
    finished_at: isoOrNull(run.finishedAt),
    expires_at: isoOrNull(expiresAt),
    // Stored responses may predate this as well.
    kept: run.kept ?? false,
    keep_runs: keepRuns,
  };
}

const MOST_STARTS = 100;

export function startsOf({ kind, url, snapshot }: RunRecord): Pick<RunView, "urls" | "url_count"> {
  const { options } = (kind === "crawl" ? snapshot : {}) as Partial<CrawlSnapshot>;
  const all = options?.urls ?? (url === null ? [] : [url]);
  return { urls: all.slice(0, MOST_STARTS).map(shownUrl), url_count: all.length };
}

/** 100 only at the end. A cancelled run and a failed workflow keep the progress they had. */
export function progressOf(
  run: Pick<RunRecord, "kind" | "status" | "progress">,
  counts: TaskCounts = NO_TASKS,
): number {
  if (run.kind === "workflow") return run.status === "completed" ? 100 : Math.min(99, Math.floor(run.progress));
  if (run.status !== "cancelled" && TERMINAL_RUN_STATES.includes(run.status)) return 100;
  // Relative to the known pages; never decreases while new ones are found.
  if (run.kind === "crawl") return Math.min(99, run.progress);
  const total = TASK_STATES.reduce((sum, state) => sum + counts[state], 0);
  const open = OPEN_TASK_STATES.reduce((sum, state) => sum + counts[state], counts.cancelled);
  return total === 0 ? 0 : Math.min(99, Math.floor((100 * (total - open)) / total));
}

export interface EventView {
  id: string;
  run_id: string;
  type: EventRecord["type"];
  level: EventRecord["level"];
  message: string;
  meta: Record<string, unknown>;
  created_at: string;
}

export function toEventView(event: EventRecord, runId: string): EventView {
  const { id, type, level, message, meta, createdAt } = event;
  return { id, run_id: runId, type, level, message, meta: meta as EventView["meta"], created_at: isoOf(createdAt) };
}

export interface ResultView {
  id: string;
  run_id: string;
  /** The task that produced the record: of a crawl, the page's. The crawl is `run_id`. */
  task_id: string;
  url: string;
  data: Record<string, unknown>;
  created_at: string;
}

export function toResultView(result: ResultRecord): ResultView {
  const { data } = result;
  const record = typeof data === "object" && data !== null && !Array.isArray(data) ? data : { value: data };
  return {
    id: result.id,
    run_id: result.runId,
    task_id: result.taskId,
    url: result.url === null ? "" : shownUrl(result.url),
    data: record as Record<string, unknown>,
    created_at: isoOf(result.createdAt),
  };
}

export interface ArtifactView {
  id: string;
  role: ArtifactRole;
  hash: string;
  size: number;
  content_type: string | null;
  url: string;
  created_at: string;
}

export function toArtifactView(file: ArtifactRecord): ArtifactView {
  return {
    id: file.id,
    role: file.role,
    hash: file.hash,
    size: file.size,
    content_type: file.contentType,
    url: shownUrl(file.url),
    created_at: isoOf(file.createdAt),
  };
}

export interface TaskView {
  id: string;
  run_id: string;
  url: string | null;
  site: string | null;
  status: TaskState;
  priority: number;
  /** Its handler; null: download. */
  handler: string | null;
  failure_code: FailureCode | null;
  failure_reason: FailureReason | null;
  error_message: string | null;
  next_try_at: string | null;
  /** Link hops from the start of a crawl; null: not a page of a crawl. */
  depth: number | null;
  /** How relevant the page is to the goal of its crawl, from 0 to 1; null: it has none, or was not read. */
  relevance: number | null;
  /** Of the last attempt; null: none was made. */
  strategy: string | null;
  http_status: number | null;
  duration_ms: number | null;
  /** Bytes received; null: none, or not counted. */
  size: number | null;
  attempts: Attempt[];
  detail: unknown;
  artifacts: ArtifactView[];
  created_at: string;
  finished_at: string | null;
}

export function toTaskView(task: TaskRecord, site: string | null, artifacts: readonly ArtifactRecord[]): TaskView {
  const last = task.attempts.at(-1);
  return {
    id: task.id,
    run_id: task.runId,
    url: task.url === null ? null : shownUrl(task.url),
    site,
    status: task.state,
    priority: task.priority,
    handler: task.handler,
    failure_code: task.failure?.code ?? null,
    failure_reason: task.failure?.reason ?? null,
    error_message: task.failure?.message ?? null,
    next_try_at: task.state === "retrying" ? isoOf(task.readyAt) : null,
    depth: numberIn(task.payload, "depth"),
    relevance: numberIn(task.detail, "relevance"),
    strategy: last?.strategy ?? null,
    http_status: last?.http_status ?? null,
    duration_ms: last?.duration_ms ?? null,
    size: sizeOf(task, artifacts),
    attempts: task.attempts,
    detail: detailOf(task),
    artifacts: artifacts.map(toArtifactView),
    created_at: isoOf(task.createdAt),
    finished_at: isoOrNull(task.endedAt),
  };
}

function sizeOf({ detail }: TaskRecord, artifacts: readonly ArtifactRecord[]): number | null {
  const files = artifacts.filter(({ role }) => role === "file");
  return files.length > 0 ? files.reduce((sum, { size }) => sum + size, 0) : numberIn(detail, "bytes");
}

function numberIn(value: unknown, name: string): number | null {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
  return typeof found === "number" ? found : null;
}

/** The retry state is internal, and the size is a separate field. */
function detailOf({ detail }: TaskRecord): unknown {
  if (typeof detail !== "object" || detail === null) return detail ?? null;
  const rest = without(detail as Record<string, unknown>, "failure", "memory", "human", "bytes");
  return Object.keys(rest).length === 0 ? null : rest;
}
