/** Records of runs and tasks. */
import type { Actor } from "../../domain/access/caller.ts";
import type { DegradedReason } from "../../domain/health/compare.ts";
import type { Failure } from "../../domain/run/failure.ts";
import type { Attempt } from "../../domain/run/outcome.ts";
import type { RunFacts } from "../../domain/run/run-facts.ts";
import type { RunHold } from "../../domain/run/run-hold.ts";
import type { Shard } from "../../domain/lane/shards.ts";
import type { RunKind, RunState, TaskState } from "../../domain/run/states.ts";
import type { NewWebhook } from "../ports/webhook-port.ts";
import type { NewWorkflow } from "./workflow-records.ts";

export interface NewRun {
  kind: RunKind;
  jobId?: string;
  name?: string | null;
  url?: string;
  site?: string;
  /** Metadata of the run's creation event. */
  meta?: Readonly<Record<string, unknown>>;
  /** A unique name. */
  alias?: string;
  maxAttempts: number | null;
  snapshot: unknown;
  /** For a crawl: how many pages it may fetch, and how long it may run. */
  pagesLimit?: number;
  timeLimitMs?: number;
  /** A concurrency limit of this run across lanes: created and removed with it. */
  budget?: { key: string; cap: number };
  /** The run starts on hold; its log says so. */
  hold?: RunHold;
  /** Uses proxies of the pool: held from the start if fewer than this are usable. */
  proxies?: { atLeast: number; waitMs: number };
  /** Notified of the run's events. */
  webhook?: NewWebhook;
  /** Later requests with this mark may reuse its pages. */
  reuse?: string;
  /** Removed some time after its end, unless it is kept. */
  temporary?: true;
  /** For kind `workflow`: the steps, which become its tasks. */
  workflow?: NewWorkflow;
  /** The trace of the caller that started it. */
  trace?: NonNullable<RunFacts["trace"]>;
}

export interface RunRecord {
  id: string;
  kind: string;
  alias: string | null;
  status: RunState;
  generation: number;
  jobId: string | null;
  /** When its job was deleted; null: not deleted, or no job. */
  jobDeletedAt: number | null;
  /** Exempt from all retention policies. */
  kept: boolean;
  /** Removed some time after its end, unless it is kept. */
  temporary: boolean;
  /** The job's retention policy; null: none. */
  jobKeepRuns: number | null;
  jobKeepDays: number | null;
  /** The workflow step that started it and waits for its end. */
  parent: { runId: string; taskId: string } | null;
  name: string | null;
  url: string | null;
  site: string | null;
  facts: RunFacts;
  maxAttempts: number | null;
  /** The input it was started with; for a workflow null unless it was just created: see `workflowSnapshot`. */
  snapshot: unknown;
  /** Pages that a crawl knows. */
  pagesKnown: number;
  timeLimitMs: number | null;
  /** Running time, without the time since `runningSince`. */
  ranMs: number;
  runningSince: number | null;
  /** For a crawl, in percent; never decreases. */
  progress: number;
  /** What is worse about its records than in earlier runs; null: nothing, or not known (yet). */
  degraded: DegradedReason[] | null;
  /** Why it is on hold; null: it is not. */
  hold: RunHold | null;
  /** Absent in responses stored by earlier versions; null: the program itself, or not known. */
  startedBy?: Actor | null;
  message: string | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface NewTask {
  /** Unique within the run: makes enqueueing idempotent. */
  key: string;
  /** The lane if the site is new: a known site has a lane. */
  lane: string;
  site: string | null;
  /** A concurrency key shared by lanes. */
  resolver: string | null;
  url: string | null;
  priority: number;
  /** Its handler; null: the run kind's default. */
  handler: string | null;
  payload: unknown;
  /** Serves the run but is none of its pages: executed like the others, but excluded from the run's counts. */
  auxiliary?: boolean;
}

export interface TaskRecord {
  id: string;
  runId: string;
  key: string;
  lane: string;
  /** null: it requests no site, e.g. a step. */
  site: string | null;
  resolver: string | null;
  state: TaskState;
  url: string | null;
  nextUrl: string | null;
  priority: number;
  handler: string | null;
  payload: unknown;
  tries: number;
  waits: number;
  readyAt: number;
  attempts: Attempt[];
  failure: Failure | null;
  detail: unknown;
  createdAt: number;
  endedAt: number | null;
}

/** Proof of ownership, part of every write of an owner. */
export interface LaneHold {
  laneId: number;
  epoch: number;
  owner: string;
  /** The shard of the site's work; absent: all of it. */
  shard?: Shard;
}

export interface ClaimedTask {
  row: number;
  /** Claim counter: outcomes of an earlier claim are ignored. */
  claim: number;
  id: string;
  streamId: number;
  /** The row of its run. */
  run: number;
  runId: string;
  runKind: string;
  /** The run's generation at the claim. */
  generation: number;
  /** The limit of its run, or its step. */
  maxAttempts: number | null;
  hasDeadline: boolean;
  key: string;
  /** null: it requests no site, e.g. a step. */
  site: string | null;
  resolver: string | null;
  url: string | null;
  nextUrl: string | null;
  priority: number;
  handler: string | null;
  payload: unknown;
  auxiliary: boolean;
  tries: number;
  waits: number;
  attempts: Attempt[];
  redirects: string[];
  /** State that the previous attempt left for this one. */
  memory: unknown;
}
