/** The words of the store about jobs and sessions. */
import type { RunState } from "../domain/states.ts";

/** A call that may be repeated: the second time it gives the first answer. */
export interface Once {
  key: string;
  /** Tells the same call from another one under the same key, which is refused. */
  fingerprint: string;
}

export interface Made<T> {
  made: T;
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
}

export interface JobRecord extends NewJob {
  id: string;
  createdAt: number;
  updatedAt: number;
}

/** One time of a job's schedule. */
export interface Slot {
  jobId: string;
  at: number;
  /** The time after it; null: there is none. */
  next: number | null;
  /** With a run of the job that is not at its end, the new one is not started, starts beside it, or replaces it. */
  overlap: "skip" | "queue" | "cancel";
}

export type SlotStart<T> =
  | { kind: "started"; made: T; lanes: string[]; cancelled: string[] }
  /** The slot is passed without a run, because of this one. */
  | { kind: "blocked"; by: { id: string; status: RunState } }
  /** The slot was dealt with before. */
  | { kind: "gone" };

export interface JobFilter {
  tag?: string;
  /** Part of the name or the address. */
  q?: string;
  site?: string;
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
  /** Part of the name or the address, among the newest `SEARCHED_RUNS`; or the id of any run. */
  q?: string;
  /** Run id to continue after: newest first. */
  after?: string;
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
  createdAt: number;
}
