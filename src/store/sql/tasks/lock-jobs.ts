import type { Turn } from "../../ports/claim-port.ts";
import type { SettleBatch, SettledTask } from "../../ports/port.ts";
import { goneByFailure } from "../crawls/page-states.ts";
import type { Context } from "../kernel/context.ts";
import { mayHavePage } from "../runs/run-pages.ts";
import { HAS_STOPS } from "./stop-task.ts";

const OPEN_TASKS = `SELECT coalesce(sum(s.queued + s.running + s.retrying), 0) FROM streams s WHERE s.run = r.n`;

/**
 * The jobs of the runs in a list of `[id, 1 if rows of the job are written, streams, tasks that may end]`. A crawl that
 * ends compares its pages with those of its job: when the last tasks of its last streams end, or stopped tasks do.
 */
const JOBS = `SELECT 'job:' || r.job AS name FROM json_each(?) AS j JOIN runs r ON r.id = json_extract(j.value, '$[0]')
  WHERE r.job IS NOT NULL AND CASE WHEN json_extract(j.value, '$[1]') = '1' THEN true WHEN r.kind <> 'crawl' THEN false
    WHEN EXISTS (${HAS_STOPS.text}) THEN true WHEN r.open_streams > CAST(json_extract(j.value, '$[2]') AS BIGINT) THEN false
    ELSE (${OPEN_TASKS}) <= CAST(json_extract(j.value, '$[3]') AS BIGINT) END`;

/** With these, tasks stay open. */
const KEPT: ReadonlySet<SettledTask["verdict"]["kind"]> = new Set([
  "retry",
  "rate_wait",
  "handed_back",
  "human",
  "wait",
] as const);

/**
 * Runs of one job share what is kept of their pages; two of them that write it at the same time do so in turn. Returns
 * whether a job was left out (turn `try`).
 */
export function lockJobs(
  { connection }: Context,
  batches: readonly SettleBatch[],
  turn: Turn | undefined,
): (job: string | null) => boolean {
  const runs = new Map<string, { writes: boolean; streams: Set<number>; ends: number }>();
  for (const settled of batches.flatMap(({ tasks }) => tasks)) {
    const { runId, runKind, streamId } = settled.task;
    const writes = writesJob(settled);
    if (!writes && runKind !== "crawl") continue;
    const run = runs.get(runId) ?? { writes: false, streams: new Set(), ends: 0 };
    runs.set(runId, run);
    run.writes ||= writes;
    run.streams.add(streamId);
    if (!KEPT.has(settled.verdict.kind)) run.ends += 1;
  }
  if (runs.size === 0) return () => false;
  const list = [...runs].map(([id, { writes, streams, ends }]) => [id, writes ? 1 : 0, streams.size, ends]);
  const missed = connection.dialect.lockNames(connection, { text: JOBS, values: [JSON.stringify(list)] }, turn);
  return (job) => job !== null && missed().has(`job:${job}`);
}

/** Whether the outcome changes rows that the runs of a job share. */
function writesJob(settled: SettledTask): boolean {
  const { verdict, report, task } = settled;
  if (goneByFailure(settled) !== null) return true;
  if (!KEPT.has(verdict.kind) && (report?.keptPage !== undefined || mayHavePage(task))) return true;
  if (verdict.kind !== "completed" || report === undefined) return false;
  return [report.page, report.copy, report.fixture].some((kept) => kept !== undefined);
}
