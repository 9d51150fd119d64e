import type { NewRun, NewTask } from "../store/records/run-records.ts";
import type { ChildRun } from "./step-kind.ts";

/** Creates the child runs of steps. */
export interface ChildRuns {
  /** The run to store. Throws a FetchFailure when the request is invalid. */
  prepare(child: ChildRun, name: string): Promise<{ run: NewRun; tasks: readonly NewTask[] }>;
}
