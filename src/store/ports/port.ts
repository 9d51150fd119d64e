import type { EventLevel, EventType } from "../../domain/run/event-catalogue.ts";
import type { EventOrder } from "../../domain/run/event-order.ts";
import type { Attempt, Report, RunEvent, Verdict } from "../../domain/run/outcome.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { RunState, TaskState } from "../../domain/run/states.ts";
import type { TaskOrder } from "../../domain/lane/task-order.ts";
import type { ClaimOptions } from "./claim-port.ts";
import type { AlertStore } from "./alert-port.ts";
import type { CrawlStore, Grown, Growth } from "./crawl-port.ts";
import type { AuditReport } from "../records/audit-records.ts";
import type { DutyStore } from "./duty-port.ts";
import type { EngineCandidate, EngineHolder } from "../records/engine-records.ts";
import type {
  JobChange,
  JobFilter,
  JobRecord,
  Created,
  NewJob,
  NewSession,
  IdempotencyKey,
  RunFilter,
  SessionHealth,
  SessionRecord,
} from "../records/job-records.ts";
import type { FailedChoice, ProgressStore, Requeued, RequeueWindow } from "./progress-port.ts";
import type { HoldStore } from "./hold-port.ts";
import type { LoginStore } from "./login-port.ts";
import type { KeyStore } from "./key-use-port.ts";
import type { LiveStore } from "./live-port.ts";
import type { LaneWork, OwnerStore } from "./owner-port.ts";
import type { ProxyStore } from "./proxy-port.ts";
import type { RetentionStore, RunDeletion } from "./retention-port.ts";
import type { RobotsStore } from "./robots-port.ts";
import type { ScheduleStore } from "./schedule-port.ts";
import type { SiteHealth } from "../../domain/site/site-health.ts";
import type { Waiting } from "../../domain/run/waiting.ts";
import type { SealStore } from "./seal-port.ts";
import type { SiteStore } from "./site-port.ts";
import type { Politeness, SiteRecord } from "../records/site-records.ts";
import type { ClaimedTask, LaneHold, NewRun, NewTask, RunRecord, TaskRecord } from "../records/run-records.ts";
import type { WebhookStore } from "./webhook-port.ts";
import type { WorkerStore } from "./worker-port.ts";
import type { StepSleep, WorkflowStore } from "./workflow-port.ts";
import type { ArtifactRecord, ResultRecord } from "../records/output-records.ts";

export type { ClaimedTask, LaneHold, NewRun, NewTask, RunRecord, TaskRecord } from "../records/run-records.ts";

/**
 * The truth: runs, tasks, lanes, events. Methods of the domain, not of a database. Every call that changes something
 * is one transaction. `now` is the wall clock, handed in; leases are measured by the store's own lease clock
 * (SQLite: the machine's monotonic clock), so callers give durations, never deadlines.
 */
export interface Store
  extends
    CrawlStore,
    DutyStore,
    HoldStore,
    KeyStore,
    LiveStore,
    LoginStore,
    OwnerStore,
    ProgressStore,
    ProxyStore,
    RetentionStore,
    RobotsStore,
    ScheduleStore,
    SealStore,
    SiteStore,
    WorkerStore,
    WorkflowStore,
    AlertStore,
    WebhookStore,
    AsyncDisposable {
  readonly capabilities: StoreCapabilities;
  /** Names this database; the public ids of its rows are derived from it. */
  readonly instance: string;
  /** Tells copies of one database apart, wherever they are asked from: they have the same `instance`. */
  readonly deployment: string;
  close(): Promise<void>;

  /**
   * Tells at once that events were appended, or that limits, pauses and run states changed, in whatever process. Only a
   * fast path: what it does not tell is found by asking. Ends with the returned function.
   */
  watch(listener: (what: "events" | "control") => void): () => void;

  // The engine lock. Where `singleEngine` is false its holder leads: it does what is to be done once, and all may own lanes.
  engineHolder(): Promise<EngineHolder | null>;
  /**
   * Takes the lock if it is free, expired, or held by `evict`, and prolongs one's own. Where there is one engine, taking it
   * ends every lease of the holder before.
   */
  takeEngine(
    candidate: EngineCandidate,
    ttlMs: number,
    evict?: string,
  ): Promise<{ taken: boolean; holder: EngineHolder }>;
  releaseEngine(holder: string): Promise<void>;
  /**
   * Prolongs the lanes and the loans of one owner, and, where there is one engine, its lock. Returns the ids of the lanes it
   * still owns; null: not the engine, or no owner, any more.
   */
  heartbeat(owner: string, ttlMs: number): Promise<Set<number> | null>;

  /**
   * What a method has made under this key (without what a session seals): a repeated call gets it although what it was
   * made from may be gone. null: the call is a new one.
   */
  answered(once: IdempotencyKey, now: number): Promise<unknown>;

  // Jobs: what may be run again.
  createJob(job: NewJob, now: number, once?: IdempotencyKey): Promise<Created<JobRecord>>;
  job(id: string): Promise<JobRecord | null>;
  jobs(filter: JobFilter): Promise<JobRecord[]>;
  /** With a version: refused as `version_conflict` unless the job has it, see `jobVersion`. */
  updateJob(id: string, change: JobChange, now: number, version?: string): Promise<JobRecord>;
  /**
   * Refuses (illegal_transition) while a run of it is not at its end. Its runs stay, unless they are to go with it: then
   * a deletion of them begins with it.
   */
  deleteJob(id: string, now: number, options?: { runs?: boolean }): Promise<RunDeletion | null>;

  /** Ids that begin so, in their order: of jobs, of runs of every kind, or of those of one kind. */
  idsFrom(what: "run" | "crawl" | "workflow", beginning: string, limit: number): Promise<string[]>;

  // Runs.
  /** Creates a run, or returns the one that already has this alias. */
  openRun(run: NewRun, now: number): Promise<RunRecord>;
  /** Creates a run together with its first tasks. Durable when it returns. */
  startRun(run: NewRun, tasks: readonly NewTask[], now: number, once?: IdempotencyKey): Promise<Created<RunRecord>>;
  runs(filter: RunFilter): Promise<RunRecord[]>;
  /** The states of those runs that are there. */
  runStates(ids: readonly string[]): Promise<Map<string, RunState>>;
  /** What a person answered to a run that waits for one. */
  answerHuman(id: string, answer: { sessionId: string } | { skip: string }, now: number): Promise<RunRecord>;
  /** Ends up to `limit` tasks that an ended run has left waiting; returns how many there were. */
  sweepEnded(limit: number, now: number, runId?: string): Promise<number>;
  run(id: string): Promise<RunRecord | null>;
  runByAlias(alias: string): Promise<RunRecord | null>;
  /** Moves a run to another state and appends the event that says so. Refuses what the transition table forbids. */
  changeRun(id: string, to: RunState, message: string, now: number): Promise<RunRecord>;
  /** In the order that is wanted; `after` is the id of an event of this run, behind which it goes on in that order. */
  events(runId: string, options: EventWindow): Promise<EventRecord[]>;
  /** The events of all runs in one order, oldest first; without `after` only their end is told. */
  feed(options: {
    after?: string;
    limit: number;
  }): Promise<{ events: (EventRecord & { runId: string })[]; last: string }>;

  // Tasks.
  /** Adds what is not there yet, by key; reopens an ended run when something was added. Durable when it returns. */
  enqueue(runId: string, tasks: readonly NewTask[], now: number): Promise<Enqueued>;
  task(id: string): Promise<TaskRecord | null>;
  taskByKey(runId: string, key: string): Promise<TaskRecord | null>;
  tasks(runId: string, filter: TaskFilter): Promise<TaskRecord[]>;
  /** Gives failed tasks fresh attempts, at most `limit` per call, and their sites' open breakers fresh probes. */
  retryFailed(runId: string, choice: FailedChoice & RequeueWindow, now: number): Promise<Requeued>;
  /** Site by site, in order of their names; what has no site lane by lane. */
  counts(runId: string): Promise<SiteCounts[]>;
  /** The sums over all sites, and a few sites with open work: cheap enough to ask several times a second. */
  overview(runId: string, mostSites: number): Promise<{ totals: TaskCounts; open: SiteCounts[]; openStreams: number }>;

  // Lanes.
  /**
   * Lanes with something to do now or later that nobody owns; and those of `owner` with ready work, because it may not
   * know of what came while it was at work.
   */
  lanesWithWork(owner?: string): Promise<LaneWork[]>;
  /** Makes `owner` the only owner, with a new epoch; what the owner before left running goes back to the queue. */
  takeLane(lane: string, owner: string, ttlMs: number): Promise<LaneGrant | null>;
  /** `restMs`: whoever takes it next may not ask its site before; absent: it is not known. */
  releaseLane(hold: LaneHold, restMs?: number): Promise<void>;
  /** Takes up to `limit` ready tasks, fairly over the lane's runs, by priority within a run. null: the lane is not ours. */
  claim(hold: LaneHold, options: ClaimOptions, now: number): Promise<Claim | null>;
  /** Writes many outcomes in one transaction. Nothing is written for lanes that are not ours any more. */
  settle(batches: readonly SettleBatch[], now: number): Promise<Settled>;
  /** null: the lane is not ours any more, or the run has ended; nothing was written. */
  growRun(hold: LaneHold, task: ClaimedTask, growth: Growth, now: number): Promise<Grown | null>;

  // Budgets that cross lanes.
  /**
   * Borrows units of a budget until the owner's lease ends; returns how many this owner now holds. Whoever gets none
   * because others have all of them counts among its borrowers until it gets some, or gives back none.
   */
  acquirePermits(key: string, owner: string, units: number, cap: number): Promise<number>;
  /** `wantsAgain`: with no units left, it counts among the borrowers at once, as the last in line. */
  releasePermits(key: string, owner: string, units: number, wantsAgain?: boolean): Promise<void>;
  budgetCap(key: string): Promise<number | null>;
  setBudgetCap(key: string, cap: number | null): Promise<void>;

  // Sessions: what lets us in somewhere. The store sees only sealed bytes.
  /** Refuses a name that another one has. */
  createSession(session: NewSession, now: number, once?: IdempotencyKey): Promise<Created<SessionRecord>>;
  /** By its id or its name. */
  session(id: string): Promise<SessionRecord | null>;
  sessions(filter: { origin?: string; after?: string; limit: number }): Promise<SessionRecord[]>;
  noteSessionHealth(id: string, health: SessionHealth): Promise<SessionRecord>;
  /** A page is asked for with it. Does nothing when it is gone. */
  noteSessionUse(id: string, now: number): Promise<void>;
  /** By its id. */
  deleteSession(id: string): Promise<void>;

  /** Grows with every change of limits, pauses and run states that owners must notice. */
  controlVersion(): Promise<number>;
  /** Changes whenever another process wrote; cheap enough to ask often. */
  foreignVersion(): Promise<number>;

  audit(): Promise<AuditReport>;
  /** Writes and rolls back, to learn whether the disk takes writes. */
  probe(): Promise<void>;
  /** Artifacts written since the given time, oldest first: what a power cut may have torn. */
  artifactsSince(time: number, after: number, limit: number): Promise<ArtifactRecord[]>;
  artifactsOf(taskId: string): Promise<ArtifactRecord[]>;
  artifact(id: string): Promise<ArtifactRecord | null>;
  resultsOf(taskId: string): Promise<unknown[]>;
  /** Records of a run, oldest first; `after` is the id of a result, `skip` leaves so many out behind it. */
  results(runId: string, options: { after?: string; skip?: number; limit: number }): Promise<ResultRecord[]>;
  countResults(runId: string): Promise<number>;
  /** Which of these tasks are still open; the janitor keeps only their partial downloads. */
  openTasks(ids: readonly string[]): Promise<Set<string>>;
}

interface StoreCapabilities {
  /** One process at a time may own lanes; it holds the engine lock. */
  singleEngine: boolean;
  /** The store itself tells other processes about new work. */
  notifies: boolean;
}

export interface EventRecord {
  id: string;
  seq: number;
  type: EventType;
  level: EventLevel;
  message: string;
  meta: unknown;
  createdAt: number;
}

/** Which events of a run; the oldest come first unless something else is said. */
export interface EventWindow {
  after?: string;
  order?: EventOrder;
  /** Only events of these types. */
  types?: readonly EventType[];
  limit: number;
}

export interface Enqueued {
  added: number;
  existing: number;
  /** Lanes that got work. */
  lanes: string[];
  reopened: boolean;
}

export interface TaskFilter {
  states?: readonly TaskState[];
  site?: string;
  /** Task id to continue after. */
  after?: string;
  /** Leaves out what serves the run and is none of its pages. */
  pagesOnly?: boolean;
  /** Of those that failed only what another try may get past. */
  retryable?: boolean;
  /** Part of the address, among the next `SEARCHED_TASKS` of the run. */
  q?: string;
  /** Without it oldest first. Slowest and largest are found among the newest `SEARCHED_TASKS` of the run. */
  order?: TaskOrder;
  limit: number;
}

export interface SiteCounts {
  /** null: work without a site, such as a step. */
  site: string | null;
  lane: string;
  counts: TaskCounts;
}

export interface LaneGrant extends LaneHold {
  lane: string;
  /** One of the lane's sites: what it says of the server holds for all of them. null: the lane has none. */
  site: SiteRecord | null;
  /** Tasks of a dead owner that went back to the queue. */
  recovered: number;
  /** How long the site is not to be asked yet, as the last owner said; absent: nobody did. */
  restMs?: number;
  /** Lanes that got work because the site was divided anew. */
  opened?: string[];
}

export interface Claim {
  tasks: ClaimedTask[];
  /** When the next retry becomes ready; null: nothing is scheduled. */
  nextReadyAt: number | null;
  /** Ready tasks stay behind in the queue. */
  more: boolean;
  /** Resolvers of which ready tasks stay behind, because the claim had no room for more of them. */
  limited?: string[];
  /** Lanes of other shards that were given some of it. */
  opened?: string[];
}

export interface SettledTask {
  task: ClaimedTask;
  /** `wait`, of a step: no attempt is spent, and nothing is added to the history. */
  verdict: Verdict | { kind: "wait"; sleep: StepSleep };
  /** null: nothing was tried, so nothing is added to the history. */
  attempt: Attempt | null;
  /** Goes into the same transaction. */
  report?: Report;
  /**
   * Appended to the log of every run with open work in the lane, together with the outcome: one that is handed in again,
   * because its answer was lost, tells nothing again.
   */
  laneEvents?: readonly RunEvent[];
}

export interface SettleBatch {
  hold: LaneHold;
  tasks: readonly SettledTask[];
  /** What the site asked for, when it changed: must survive the owner. */
  site?: { site: string; politeness: Politeness };
  /** How sites of the lane have done of late. */
  health?: readonly { site: string; health: SiteHealth }[];
  /** What the lane's sites wait for from now on; null: they go on, absent: as before. */
  waiting?: Waiting | null;
}

export interface Settled {
  /** Lanes (by id) that another owner has taken; their outcomes were dropped. */
  lost: number[];
  /** Lanes that got work: by a move, by a step that others waited for, by the end of a child run. */
  opened: string[];
  ended: { runId: string; status: RunState }[];
  /** Tasks (by row) of which nothing was written, because their run has ended or they are somebody else's; absent: none. */
  dropped?: number[];
}
