/** Records of jobs and sessions. */
import type { Actor } from "../../domain/access/caller.ts";
import type { OnDegraded } from "../../domain/health/on-degraded.ts";
import type { JobAuthor } from "../../domain/run/job-author.ts";
import type { RunState } from "../../domain/run/states.ts";

/** Makes a call repeatable: a repetition returns the first response. */
export interface IdempotencyKey {
  key: string;
  /** Distinguishes a repetition from another call under the same key, which is rejected. */
  fingerprint: string;
}

export interface Created<T> {
  created: T;
  /** Lanes that got work; none for a repetition. */
  lanes: string[];
  replayed: boolean;
}

export interface NewJob {
  name: string | null;
  kind: string;
  url: string;
  site: string;
  tags: readonly string[];
  recipe: unknown;
  /** When its schedule starts it next; null: no schedule. */
  nextAt: number | null;
  /** The same without jitter: identifies the scheduled time. */
  nextOccurrenceAt: number | null;
  /** How many ended runs to keep, and for how many days; 0: no limit, null or absent: the configured default. */
  keepRuns?: number | null;
  keepDays?: number | null;
  /** What happens when the records of a run are degraded; null or absent: the default. */
  onDegraded?: OnDegraded | null;
  /** How many pages to keep for tests of its rules; null or absent: the default. */
  fixtures?: number | null;
  /** Accepts a repair of its rules that is beyond doubt; absent: no. */
  autoRepair?: boolean;
}

export interface JobRecord extends NewJob {
  id: string;
  keepRuns: number | null;
  keepDays: number | null;
  onDegraded: OnDegraded | null;
  fixtures: number | null;
  autoRepair: boolean;
  /** Since when its schedule is paused; null: it is not. */
  schedulePausedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** What a version of a job keeps: what people change, without the state of its schedule. */
export type JobDefinition = Omit<
  JobRecord,
  "id" | "nextAt" | "nextOccurrenceAt" | "schedulePausedAt" | "createdAt" | "updatedAt"
>;

export interface JobVersionInfo {
  /** From 1, without gaps; the oldest are removed. */
  version: number;
  madeAt: number;
  /** By which program. */
  author: JobAuthor;
  /** Null: not known, or a program that calls the library. */
  madeBy: Actor | null;
  /** The version whose definition it took again. */
  restored: number | null;
}

export interface JobVersionRecord extends JobVersionInfo {
  definition: JobDefinition;
}

/** Which program makes a change, and which version it restores. Who makes it is the current caller. */
export interface JobChangeSource {
  author: JobAuthor;
  restored?: number;
}

export type JobChange = Partial<NewJob> & Partial<Pick<JobRecord, "schedulePausedAt">>;

export interface JobFilter {
  /** Only jobs with a schedule. */
  scheduled?: true;
  tag?: string;
  /** Part of the name or the URL. */
  q?: string;
  site?: string;
  /** Only jobs that use this session; `any`: any session. */
  session?: string;
  /** Job id to continue after: newest first. */
  after?: string;
  limit: number;
}

/** A text search covers this many of the newest runs: other calls wait for it to end. */
export const SEARCHED_RUNS = 10_000;

export interface RunFilter {
  jobId?: string;
  status?: readonly RunState[];
  kind?: string;
  site?: string;
  /** Part of the name or the URL, among the newest `SEARCHED_RUNS`; or the id of any run, or its prefix. */
  q?: string;
  /** Created at `since` or later, and before `until`. */
  since?: number;
  until?: number;
  /** Ended before then. */
  endedBefore?: number;
  /** Of jobs with this tag. */
  tag?: string;
  ids?: readonly string[];
  /** Child runs of this run; "none": runs without a parent. */
  parent?: string;
  /** Run id to continue after: newest first. */
  after?: string;
  /** Run id to start with: newer ones are omitted. */
  from?: string;
  limit: number;
}

export interface NewSession {
  name: string | null;
  origin: string;
  /** Which kinds of secrets it holds; never the secrets. */
  holds: readonly string[];
  sealed: Uint8Array;
  checkUrl: string | null;
}

export interface SessionHealth {
  status: "healthy" | "rejected" | "unreachable";
  message: string;
  checkedAt: number;
}

export interface SessionRecord extends NewSession {
  id: string;
  health: SessionHealth | null;
  /** When a page was last requested with it, to the minute; null: never. */
  lastUsedAt: number | null;
  createdAt: number;
}
