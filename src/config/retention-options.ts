/** Retention of runs, and the storage budget. */
import { option } from "./option.ts";
import * as type from "./types.ts";

export const RETENTION_OPTIONS = {
  keepRuns: option({
    name: "APP_KEEP_RUNS",
    type: type.integer(0, 10_000_000),
    default: "1000",
    about:
      "Number of ended runs to keep per job; older ones are deleted with their results and files. 0: all. `keep_runs` of a job overrides it.",
    example: "100",
  }),
  keepDays: option({
    name: "APP_KEEP_DAYS",
    type: type.integer(0, 36_500),
    default: "0",
    about:
      "Days after which an ended run is deleted with its results and files. 0: never. `keep_days` of a job overrides it.",
    example: "90",
  }),
  auditKeepDays: option({
    name: "APP_AUDIT_KEEP_DAYS",
    type: type.integer(0, 36_500),
    default: "365",
    about: "Days after which an entry of the audit log is deleted. 0: never.",
    example: "90",
  }),
  archiveAfterDays: option({
    name: "APP_ARCHIVE_AFTER_DAYS",
    type: type.integer(0, 36_500),
    default: "0",
    about:
      "Days after which a file moves to the archive folder (`artifacts/cold`), compressed if that saves space. They count from the last time that a run stored the file or its same content. It stays readable under its URL. 0: only an `archive` step archives files.",
    example: "30",
  }),
  archiveMinKb: option({
    name: "APP_ARCHIVE_MIN_KB",
    type: type.integer(0, 1_000_000_000),
    default: "16",
    about: "Smaller files are not moved to the archive folder.",
    example: "100",
  }),
  diskBudgetMb: option({
    name: "APP_DISK_BUDGET_MB",
    type: type.integer(0, 1_000_000_000),
    default: "20000",
    about: "Disk space for the database and files. At 80 % an alert is sent. 0: no budget.",
    example: "100000",
  }),
  diskBudgetAction: option({
    name: "APP_DISK_BUDGET_ACTION",
    type: type.oneOf(["warn", "remove"]),
    default: "warn",
    about:
      "What happens when the budget is used up: `warn` deletes nothing; `remove` deletes the oldest ended runs, at the earliest a day after the alert. Runs marked to be kept stay.",
    example: "remove",
  }),
};
