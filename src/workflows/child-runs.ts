import type { NewRun, NewTask } from "../store/records/run-records.ts";
import type { ChildRun } from "./step-kind.ts";

/** Makes the runs that steps start and wait for. */
export interface ChildRuns {
  /** What is to be written for it. Throws a FetchFailure when it cannot be asked for as it stands. */
  prepare(child: ChildRun, name: string): Promise<{ run: NewRun; tasks: readonly NewTask[] }>;
}
