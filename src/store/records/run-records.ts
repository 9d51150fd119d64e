/** The words of the store about runs and their tasks. */
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
  /** Told in the event that says the run was created. */
  meta?: Readonly<Record<string, unknown>>;
  /** A name of which there is only one. */
  alias?: string;
  maxAttempts: number | null;
  snapshot: unknown;
  /** Of a run that grows: how many pages may be fetched to an end, and how long it may be running. */
  pagesLimit?: number;
  timeLimitMs?: number;
  /** A limit that crosses lanes and is the run's own: it appears together with it, and goes with it. */
  budget?: { key: string; cap: number };
  /** It waits for something from its beginning; its log says so. */
  hold?: RunHold;
  /** It is done through proxies of the pool: it is held from its beginning if fewer than this are usable. */
  proxies?: { atLeast: number; waitMs: number };
  /** Who is told of what becomes of it. */
  webhook?: NewWebhook;
  /** Its pages may be answered with again to whoever asks for one under this mark. */
  reuse?: string;
  /** It is removed some time after its end, unless somebody asks to keep it. */
  temporary?: true;
  /** Of a run of kind `workflow`: its steps, which become its tasks. */
  workflow?: NewWorkflow;
}

export interface RunRecord {
  id: string;
  kind: string;
  alias: string | null;
  status: RunState;
  generation: number;
  jobId: string | null;
  /** When its job was deleted; null: it was not, or there was none. */
  jobDeletedAt: number | null;
  /** Somebody asked to keep it: no policy removes it. */
  kept: boolean;
  /** It is removed some time after its end, unless it is kept. */
  temporary: boolean;
  /** What its job says about how many runs, and how many days, are kept; null: nothing. */
  jobKeepRuns: number | null;
  jobKeepDays: number | null;
  /** The step of a workflow that has started it and waits for its end. */
  parent: { runId: string; taskId: string } | null;
  name: string | null;
  url: string | null;
  site: string | null;
  facts: RunFacts;
  maxAttempts: number | null;
  /** What it was started with; of a workflow null, unless it was made just now: see `workflowSnapshot`. */
  snapshot: unknown;
  /** Tasks that a run that grows has had. */
  pagesKnown: number;
  timeLimitMs: number | null;
  /** Time it has been running, without `runningSince` until now. */
  ranMs: number;
  runningSince: number | null;
  /** Of a run that grows, in percent, as it was last seen; never falls. */
  progress: number;
  /** What keeps it from its work; null: nothing. */
  hold: RunHold | null;
  message: string | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface NewTask {
  /** Unique within the run: what makes enqueueing idempotent. */
  key: string;
  /** Where it goes when the site is not known yet: a site that is has a lane. */
  lane: string;
  site: string | null;
  /** A budget that crosses lanes, e.g. a resolver. */
  resolver: string | null;
  url: string | null;
  priority: number;
  /** Which handler does it; null is the run kind's own. */
  handler: string | null;
  payload: unknown;
  /** Serves the run and is none of its pages: it is done like the others, and stands in none of the run's sums. */
  auxiliary?: boolean;
}

export interface TaskRecord {
  id: string;
  runId: string;
  key: string;
  lane: string;
  /** null: it asks no site, as a step. */
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

/** Proof of ownership that every write of an owner carries. */
export interface LaneHold {
  laneId: number;
  epoch: number;
  owner: string;
  /** It has one shard of its site's work; absent: all of it. */
  shard?: Shard;
}

export interface ClaimedTask {
  row: number;
  /** How often it has been claimed by now: an outcome of another time changes nothing. */
  claim: number;
  id: string;
  streamId: number;
  runId: string;
  runKind: string;
  /** Of its run, when the task was taken. */
  generation: number;
  /** How often it may be tried: as its run, or its step, says. */
  maxAttempts: number | null;
  /** Its run has a time limit. */
  hasDeadline: boolean;
  key: string;
  /** null: it asks no site, as a step. */
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
  /** What the attempt before left for this one. */
  memory: unknown;
}
