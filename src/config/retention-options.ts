/** Retention of runs, and the storage budget. */
import { option } from "./option.ts";
import * as type from "./types.ts";

export const RETENTION_OPTIONS = {
  keepRuns: option({
    name: "APP_KEEP_RUNS",
    type: type.integer(0, 10_000_000),
    default: "1000",
    about:
      "Ended runs that are kept of each job; older ones are removed with their results and files. A job may say otherwise (`keep_runs`); 0 keeps all.",
    example: "100",
  }),
  keepDays: option({
    name: "APP_KEEP_DAYS",
    type: type.integer(0, 36_500),
    default: "0",
    about:
      "Days after its end at which a run is removed with its results and files. A job may say otherwise (`keep_days`); 0 keeps runs until they are deleted.",
    example: "90",
  }),
  archiveAfterDays: option({
    name: "APP_ARCHIVE_AFTER_DAYS",
    type: type.integer(0, 36_500),
    default: "0",
    about:
      "Days after which a file that was neither stored nor found again is moved to the archive folder (`artifacts/cold`), compressed where that saves space. It stays readable under its address. 0: files are archived only by an `archive` step.",
    example: "30",
  }),
  archiveMinKb: option({
    name: "APP_ARCHIVE_MIN_KB",
    type: type.integer(0, 1_000_000_000),
    default: "16",
    about: "Smaller files are not moved to the archive folder: they would save little.",
    example: "100",
  }),
  diskBudgetMb: option({
    name: "APP_DISK_BUDGET_MB",
    type: type.integer(0, 1_000_000_000),
    default: "20000",
    about: "Room that the database and the files may take. At 80 % an alert says so; 0: no budget.",
    example: "100000",
  }),
  diskBudgetAction: option({
    name: "APP_DISK_BUDGET_ACTION",
    type: type.oneOf(["warn", "remove"]),
    default: "warn",
    about:
      "What happens when the budget is used up: `warn` removes nothing; `remove` removes the oldest ended runs, a day after the alert at the earliest. Runs that somebody asked to keep stay.",
    example: "remove",
  }),
};
