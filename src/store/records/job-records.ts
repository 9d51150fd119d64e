/** The words of the store about jobs and sessions. */
import type { RunState } from "../../domain/run/states.ts";

/** A call that may be repeated: the second time it gives the first answer. */
export interface IdempotencyKey {
  key: string;
  /** Tells the same call from another one under the same key, which is refused. */
  fingerprint: string;
}

export interface Created<T> {
  created: T;
  /** Lanes that got work; none when it was there already. */
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
  /** When its schedule starts it next; null: never by itself. */
  nextAt: number | null;
  /** The same without what chance has added: what tells one time of its schedule from another. */
  nextOccurrenceAt: number | null;
  /** Ended runs that are kept, and for how many days; 0: no limit, null or absent: as the configuration says. */
  keepRuns?: number | null;
  keepDays?: number | null;
}

export interface JobRecord extends NewJob {
  id: string;
  keepRuns: number | null;
  keepDays: number | null;
  /** Its schedule does not start it until somebody resumes it; null: it does. */
  schedulePausedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export type JobChange = Partial<NewJob> & Partial<Pick<JobRecord, "schedulePausedAt">>;

export interface JobFilter {
  /** Only those that have a schedule. */
  scheduled?: true;
  tag?: string;
  /** Part of the name or the address. */
  q?: string;
  site?: string;
  /** Only those that sign in with this session, or with `any`. */
  session?: string;
  /** Job id to continue after: newest first. */
  after?: string;
  limit: number;
}

/** So many of the newest runs are searched for a text: all others wait for the search to end. */
export const SEARCHED_RUNS = 10_000;

export interface RunFilter {
  jobId?: string;
  status?: readonly RunState[];
  kind?: string;
  site?: string;
  /** Part of the name or the address, among the newest `SEARCHED_RUNS`; or the id of any run, or its beginning. */
  q?: string;
  /** Created at that time or later, and before that one. */
  since?: number;
  until?: number;
  /** Ended before that time. */
  endedBefore?: number;
  /** Of jobs with this tag. */
  tag?: string;
  ids?: readonly string[];
  /** Runs that a step of this run has started; "none": those that no step has started. */
  parent?: string;
  /** Run id to continue after: newest first. */
  after?: string;
  /** Run id to begin with: newer ones are left out. */
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
  /** When a page was last asked for with it, to the minute; null: never. */
  lastUsedAt: number | null;
  createdAt: number;
}
