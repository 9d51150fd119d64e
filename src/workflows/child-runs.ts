import type { NewRun, NewTask } from "../store/records/run-records.ts";
import type { ChildRun } from "./step-kind.ts";

/** Makes the runs that steps start and wait for. */
export interface ChildRuns {
  /** The run to write. Throws a FetchFailure when the request is invalid. */
  prepare(child: ChildRun, name: string): Promise<{ run: NewRun; tasks: readonly NewTask[] }>;
}
