import type { RunState } from "../../../domain/run/states.ts";
import type { LastRunRecord } from "../../ports/progress-port.ts";
import { ofVisibleRuns } from "../kernel/caller-limits.ts";
import { type Context, rows } from "../kernel/context.ts";

interface LastRunRow {
  job: string;
  id: string;
  kind: string;
  status: RunState;
  progress: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
}

/** The newest run of each job that the caller may see. Without limits, one index lookup per job, however many runs it has had. */
export function readLastRuns({ connection }: Context, jobIds: readonly string[]): Map<string, LastRunRecord> {
  const visible = ofVisibleRuns();
  const list = connection
    .sql(
      `SELECT r.job, r.id, r.kind, r.status, r.progress, r.created_at, r.started_at, r.finished_at
       FROM json_each(?) wanted CROSS JOIN runs r ON r.n = (
         SELECT n FROM runs WHERE job = wanted.value AND removing_at IS NULL${visible.text} ORDER BY n DESC LIMIT 1)`,
    )
    .all(JSON.stringify(jobIds), ...visible.values);
  return new Map(
    rows<LastRunRow>(list).map(({ job, id, kind, status, progress, created_at, started_at, finished_at }) => [
      job,
      { id, kind, status, progress, createdAt: created_at, startedAt: started_at, finishedAt: finished_at },
    ]),
  );
}
