import type { EventLevel, EventType } from "../../domain/run/event-catalogue.ts";
import type { EventOrder } from "../../domain/run/event-order.ts";
import type { Attempt, Report, RunEvent, Verdict } from "../../domain/run/outcome.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { RunState, TaskState } from "../../domain/run/states.ts";
import type { TaskOrder } from "../../domain/lane/task-order.ts";
import type { ClaimOptions, Turn } from "./claim-port.ts";
import type { AlertStore } from "./alert-port.ts";
import type { CrawlStore, Grown, Growth } from "./crawl-port.ts";
import type { AuditReport } from "../records/audit-records.ts";
import type { DutyStore } from "./duty-port.ts";
import type { FixtureStore } from "./fixture-port.ts";
import type { EngineCandidate, EngineHolder } from "../records/engine-records.ts";
import type {
  JobChange,
  JobFilter,
  JobRecord,
  Created,
  NewJob,
  NewSession,
  IdempotencyKey,
  JobChangeSource,
  JobVersionInfo,
  JobVersionRecord,
  RunFilter,
  SessionHealth,
  SessionRecord,
} from "../records/job-records.ts";
import type { FailedChoice, ProgressStore, Requeued, RequeueWindow } from "./progress-port.ts";
import type { HealthStore } from "./health-port.ts";
import type { HoldStore } from "./hold-port.ts";
import type { AccessStore } from "./security/access-port.ts";
import type { LoginStore } from "./security/login-port.ts";
import type { KeyStore } from "./key-use-port.ts";
import type { LiveStore } from "./live-port.ts";
import type { MonitorStore } from "./monitors/monitor-port.ts";
import type { NotifyStore } from "./notify/notify-port.ts";
import type { TrackedPageStore } from "./monitors/tracked-port.ts";
import type { LaneWork, OwnerStore } from "./owner-port.ts";
import type { ProxyStore } from "./proxy-port.ts";
import type { RepairStore } from "./repair-port.ts";
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
 * The source of truth: runs, tasks, lanes, events. The methods are those of the domain, not of a database. Every call
 * that changes something is one transaction. Callers pass the wall clock as `now`; the store measures leases by its own
 * lease clock (SQLite: the machine's monotonic clock), so callers pass durations, never deadlines.
 */
export interface Store
  extends
    CrawlStore,
    DutyStore,
    HealthStore,
    FixtureStore,
    RepairStore,
    HoldStore,
    KeyStore,
    LiveStore,
    LoginStore,
    AccessStore,
    MonitorStore,
    NotifyStore,
    TrackedPageStore,
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
  /** Identifies this database; the public ids of its rows are derived from it. */
  readonly instance: string;
  /** Distinguishes copies of one database, which share their `instance`. */
  readonly deployment: string;
  /** Transactions of this process that conflicted with others and were executed again. Absent: there is one writer. */
  conflicts?(): number;
  close(): Promise<void>;

  /**
   * Notifies of appended events, and of changed limits, pauses and run states, by any process. Only a fast path:
   * polling finds what it misses. The returned function unsubscribes.
   */
  watch(listener: (what: "events" | "control") => void): () => void;

  // The engine lock. Where `singleEngine` is false its holder is the leader, which does the work that must happen once;
  // all processes may own lanes.
  engineHolder(): Promise<EngineHolder | null>;
  /**
   * Takes the lock if it is free, expired, or held by `evict`, and renews the caller's own. With a single engine,
   * taking it ends every lease of the previous holder.
   */
  takeEngine(
    candidate: EngineCandidate,
    ttlMs: number,
    evict?: string,
  ): Promise<{ taken: boolean; holder: EngineHolder }>;
  releaseEngine(holder: string): Promise<void>;
  /**
   * Renews the lanes and permits of an owner and, with a single engine, its lock. Returns the ids of the lanes it still
   * owns; null: it is no longer the engine, or an owner.
   */
  heartbeat(owner: string, ttlMs: number): Promise<Set<number> | null>;

  /**
   * The stored response for an idempotency key (without a session's secrets): a repeated call gets it even if its
   * source is gone. null: a new call.
   */
  answered(once: IdempotencyKey, now: number): Promise<unknown>;

  // Jobs.
  /** Its first version is written with it; absent, its author is `api`. */
  createJob(job: NewJob, now: number, once?: IdempotencyKey, source?: JobChangeSource): Promise<Created<JobRecord>>;
  job(id: string): Promise<JobRecord | null>;
  jobs(filter: JobFilter): Promise<JobRecord[]>;
  /**
   * Writes a version with it if the definition changes. `version`: throws `version_conflict` unless it is the job's, see
   * `jobVersion`.
   */
  updateJob(id: string, change: JobChange, now: number, version?: string, source?: JobChangeSource): Promise<JobRecord>;
  /** Versions of a job, newest first; `before`: only older ones. */
  jobVersions(id: string, options: { before?: number; limit: number }): Promise<JobVersionInfo[]>;
  /** Null: the job, or the version, does not exist (any more). */
  jobVersion(id: string, version: number): Promise<JobVersionRecord | null>;
  /**
   * Throws `illegal_transition` while a run of the job has not ended. With `runs`, a deletion of its runs begins;
   * otherwise they stay.
   */
  deleteJob(id: string, now: number, options?: { runs?: boolean }): Promise<RunDeletion | null>;

  /** Ids with this prefix, in order: of runs of every kind, or of one kind. */
  idsFrom(what: "run" | "crawl" | "workflow", beginning: string, limit: number): Promise<string[]>;

  // Runs.
  /** Creates a run, or returns the one that already has this alias. */
  openRun(run: NewRun, now: number): Promise<RunRecord>;
  /** Creates a run together with its first tasks. Durable when it returns. */
  startRun(run: NewRun, tasks: readonly NewTask[], now: number, once?: IdempotencyKey): Promise<Created<RunRecord>>;
  runs(filter: RunFilter): Promise<RunRecord[]>;
  /** States of the runs that exist. */
  runStates(ids: readonly string[]): Promise<Map<string, RunState>>;
  /** The answer of a person to a run that waits for one. */
  answerHuman(id: string, answer: { sessionId: string } | { skip: string }, now: number): Promise<RunRecord>;
  /** Ends up to `limit` tasks that ended runs left waiting; returns how many. */
  sweepEnded(limit: number, now: number, runId?: string): Promise<number>;
  run(id: string): Promise<RunRecord | null>;
  runByAlias(alias: string): Promise<RunRecord | null>;
  /** Moves a run to another state and appends the event. Throws for transitions that the table forbids. */
  changeRun(id: string, to: RunState, message: string, now: number): Promise<RunRecord>;
  /** `after` is an event id of this run; the list continues after it in the requested order. */
  events(runId: string, options: EventWindow): Promise<EventRecord[]>;
  /** The events of all runs in one order, oldest first; without `after` only the end position. */
  feed(options: FeedWindow): Promise<{ events: (EventRecord & { runId: string })[]; last: string }>;

  // Tasks.
  /** Adds tasks with new keys; reopens an ended run if any was added. Durable when it returns. */
  enqueue(runId: string, tasks: readonly NewTask[], now: number): Promise<Enqueued>;
  task(id: string): Promise<TaskRecord | null>;
  taskByKey(runId: string, key: string): Promise<TaskRecord | null>;
  tasks(runId: string, filter: TaskFilter): Promise<TaskRecord[]>;
  /**
   * Requeues failed tasks with fresh attempts, at most `limit` per call, and gives their sites' open breakers fresh
   * probes.
   */
  retryFailed(runId: string, choice: FailedChoice & RequeueWindow, now: number): Promise<Requeued>;
  /** By site, ordered by name; tasks without a site by lane. */
  counts(runId: string): Promise<SiteCounts[]>;
  /** Totals over all sites, and a few sites with open work: cheap enough to call several times a second. */
  overview(runId: string, mostSites: number): Promise<{ totals: TaskCounts; open: SiteCounts[]; openStreams: number }>;

  // Lanes.
  /**
   * Unowned lanes with present or future work, and lanes of `owner` with ready work, because it may have missed what
   * arrived meanwhile.
   */
  lanesWithWork(owner?: string): Promise<LaneWork[]>;
  /** Makes `owner` the only owner, with a new epoch; requeues what the previous owner left running. */
  takeLane(lane: string, owner: string, ttlMs: number): Promise<LaneGrant | null>;
  /** `restMs`: how long the next owner must not send requests to the site; absent: unknown. */
  releaseLane(hold: LaneHold, restMs?: number): Promise<void>;
  /**
   * Claims up to `limit` ready tasks, fairly across the lane's runs, by priority within a run. null: the lane is not
   * ours.
   */
  claim(hold: LaneHold, options: ClaimOptions, now: number): Promise<Claim | null>;
  /** Writes many outcomes in one transaction. Drops those of lanes that are no longer ours. */
  settle(batches: readonly SettleBatch[], now: number, turn?: Turn): Promise<Settled>;
  /** null: the lane is no longer ours, or the run has ended; nothing was written. */
  growRun(hold: LaneHold, task: ClaimedTask, growth: Growth, now: number): Promise<Grown | null>;

  // Budgets shared by lanes.
  /**
   * Acquires permits of a budget until the owner's lease ends; returns how many the owner now holds. An owner that gets
   * none because others hold all is queued until it gets some, or releases zero.
   */
  acquirePermits(key: string, owner: string, units: number, cap: number): Promise<number>;
  /** `wantsAgain`: an owner without permits is queued again at once, at the end. */
  releasePermits(key: string, owner: string, units: number, wantsAgain?: boolean): Promise<void>;
  budgetCap(key: string): Promise<number | null>;
  setBudgetCap(key: string, cap: number | null): Promise<void>;

  // Sessions: credentials for a site. The store sees only sealed bytes.
  /** Throws for a name that is in use. */
  createSession(session: NewSession, now: number, once?: IdempotencyKey): Promise<Created<SessionRecord>>;
  /** By its id or its name. */
  session(id: string): Promise<SessionRecord | null>;
  sessions(filter: { origin?: string; after?: string; limit: number }): Promise<SessionRecord[]>;
  noteSessionHealth(id: string, health: SessionHealth): Promise<SessionRecord>;
  /** Records that a page request uses the session. Does nothing when it is gone. */
  noteSessionUse(id: string, now: number): Promise<void>;
  deleteSession(id: string): Promise<void>;

  /** Increments with every change of limits, pauses and run states that owners must see. */
  controlVersion(): Promise<number>;
  /** Changes whenever another process wrote; cheap enough to poll. */
  foreignVersion(): Promise<number>;

  audit(): Promise<AuditReport>;
  /** Writes and rolls back, to learn whether the disk takes writes. */
  probe(): Promise<void>;
  /** Artifacts written since `time`, oldest first: a power cut may have torn them. */
  artifactsSince(time: number, after: number, limit: number): Promise<ArtifactRecord[]>;
  artifactsOf(taskId: string): Promise<ArtifactRecord[]>;
  artifact(id: string): Promise<ArtifactRecord | null>;
  resultsOf(taskId: string): Promise<unknown[]>;
  /** Records of a run, oldest first; `after` is a result id, `skip` omits that many after it. */
  results(runId: string, options: { after?: string; skip?: number; limit: number }): Promise<ResultRecord[]>;
  countResults(runId: string): Promise<number>;
  /** Which of these tasks are still open; the janitor keeps only their partial downloads. */
  openTasks(ids: readonly string[]): Promise<Set<string>>;
}

interface StoreCapabilities {
  /** One process at a time may own lanes; it holds the engine lock. */
  singleEngine: boolean;
  /** The store notifies other processes of new work. */
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

/** Which events of a run; oldest first by default. */
export interface EventWindow {
  after?: string;
  order?: EventOrder;
  /** Only events of these types. */
  types?: readonly EventType[];
  limit: number;
}

export interface FeedChoice {
  /** Only events that end a run. */
  ends?: boolean;
}

export interface FeedWindow extends FeedChoice {
  after?: string;
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
  /** Excludes auxiliary tasks. */
  pagesOnly?: boolean;
  /** Of failed tasks, only those that a retry may fix. */
  retryable?: boolean;
  /** Part of the URL, among the next `SEARCHED_TASKS` of the run. */
  q?: string;
  /** Default: oldest first. Slowest and largest are found among the newest `SEARCHED_TASKS` of the run. */
  order?: TaskOrder;
  limit: number;
}

export interface SiteCounts {
  /** null: tasks without a site, such as steps. */
  site: string | null;
  lane: string;
  counts: TaskCounts;
}

export interface LaneGrant extends LaneHold {
  lane: string;
  /** One of the lane's sites: its server settings apply to all of them. null: the lane has none. */
  site: SiteRecord | null;
  /** Requeued tasks of a dead owner. */
  recovered: number;
  /** How long to send no requests to the site, as the last owner recorded; absent: unknown. */
  restMs?: number;
  /** Lanes that got work because the site was resharded. */
  opened?: string[];
}

export interface Claim {
  tasks: ClaimedTask[];
  /** When the next retry is ready; null: none is scheduled. */
  nextReadyAt: number | null;
  /** Ready tasks are left in the queue. */
  more: boolean;
  /** Resolvers with ready tasks left, because the claim had no room for more of them. */
  limited?: string[];
  /** Lanes of other shards that got some of the work. */
  opened?: string[];
  /** Nothing was claimed, and others have locked runs with ready tasks, or had when the claim began. */
  busy?: true;
}

export interface SettledTask {
  task: ClaimedTask;
  /** `wait` (steps only): spends no attempt, and adds nothing to the history. */
  verdict: Verdict | { kind: "wait"; sleep: StepSleep };
  /** null: nothing was attempted, so the history stays as it is. */
  attempt: Attempt | null;
  /** Written in the same transaction. */
  report?: Report;
  /**
   * Appended to the log of every run with open work in the lane, together with the outcome: a batch that is sent again
   * because its response was lost logs nothing twice.
   */
  laneEvents?: readonly RunEvent[];
}

export interface SettleBatch {
  hold: LaneHold;
  tasks: readonly SettledTask[];
  /** The site's back-off state, when it changed: must survive the owner. */
  site?: { site: string; politeness: Politeness };
  /** Recent health of the lane's sites. */
  health?: readonly { site: string; health: SiteHealth }[];
  /** What the lane's sites wait for from now on; null: nothing, absent: unchanged. */
  waiting?: Waiting | null;
}

export interface Settled {
  /** Ids of lanes that another owner has taken; their outcomes were dropped. */
  lost: number[];
  /** Lanes that got work: by a move, by a step that others waited for, by the end of a child run. */
  opened: string[];
  ended: { runId: string; status: RunState }[];
  /** Rows of tasks whose outcome was dropped, because their run has ended or another owner has them; absent: none. */
  dropped?: number[];
  /** Rows of tasks whose outcome was not written, because others have locked their runs (turn `try`); absent: none. */
  busy?: number[];
}
