/** The verbs and words of the store about crawls: runs that grow while they run. */
import type { FailureCode, FailureReason } from "../domain/failure.ts";

export interface CrawlVerbs {
  /** Lets waiting crawls begin, oldest first, as long as fewer than `most` are running. Says which lanes got work. */
  admitCrawls(most: number, now: number): Promise<{ admitted: string[]; lanes: string[] }>;
  /** Runs whose running time is used up. */
  overdueRuns(now: number, limit: number): Promise<string[]>;
  /** Ends a run because its time is over: what is done stays. */
  endByTime(id: string, now: number): Promise<void>;
  /** What failed of a run, most frequent first. */
  runErrors(id: string): Promise<RunErrorRecord[]>;
}

export interface RunErrorRecord {
  code: FailureCode;
  reason: FailureReason;
  count: number;
  exampleTaskId: string;
  exampleMessage: string;
}
