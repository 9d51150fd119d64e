/** The history of a job's changes, and the pages that its monitor knows. */
import type { PageChangeKind } from "../../../domain/monitor/monitored-page.ts";
import type { Monitored } from "../../../domain/monitor/options.ts";
import type { MonitorChangeRecord, MonitorRecord } from "../../ports/monitors/monitor-port.ts";
import { type Context, rows } from "../kernel/context.ts";
import { lockRuns } from "../kernel/lock-runs.ts";
import { recordOrphanedFiles } from "../runs/orphaned-files.ts";

interface ChangeRow {
  n: number;
  number: number;
  run_id: string;
  url: string;
  change: PageChangeKind;
  what: Monitored;
  found_at: number;
  before_at: number | null;
  added: number;
  removed: number;
  share: number;
  summary: string | null;
}

interface FileRow {
  role: "before" | "after" | "diff";
  hash: Uint8Array;
  size: number;
  sealed: number;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

function toRecord({ connection }: Context, row: ChangeRow): MonitorChangeRecord {
  const files = rows<FileRow>(
    connection.sql("SELECT role, hash, size, sealed FROM monitor_files WHERE change = ?").all(row.n),
  );
  return {
    number: row.number,
    runId: row.run_id,
    url: row.url,
    change: row.change,
    what: row.what,
    foundAt: row.found_at,
    beforeAt: row.before_at,
    added: row.added,
    removed: row.removed,
    share: row.share,
    summary: row.summary,
    files: Object.fromEntries(
      files.map(({ role, hash, size, sealed }) => [role, { hash: hex(hash), size, isSealed: sealed === 1 }]),
    ),
  };
}

export function readMonitorChanges(
  context: Context,
  jobId: string,
  {
    before = Number.MAX_SAFE_INTEGER,
    limit,
    change,
    runId,
  }: { before?: number; limit: number; change?: PageChangeKind; runId?: string },
): MonitorChangeRecord[] {
  const list = context.connection
    .sql(
      `SELECT c.* FROM jobs j JOIN monitor_changes c ON c.job = j.n WHERE j.id = ?1 AND c.number < ?2
         AND (CAST(?3 AS TEXT) IS NULL OR c.change = ?3) AND (CAST(?4 AS TEXT) IS NULL OR c.run_id = ?4)
       ORDER BY c.number DESC LIMIT ?5`,
    )
    .all(jobId, before, change ?? null, runId ?? null, limit);
  return rows<ChangeRow>(list).map((row) => toRecord(context, row));
}

export function readMonitorChange(context: Context, jobId: string, number: number): MonitorChangeRecord | null {
  const row = context.connection
    .sql("SELECT c.* FROM jobs j JOIN monitor_changes c ON c.job = j.n WHERE j.id = ? AND c.number = ?")
    .get(jobId, number) as ChangeRow | undefined;
  return row === undefined ? null : toRecord(context, row);
}

export function readMonitor({ connection }: Context, jobId: string): MonitorRecord | null {
  const row = connection
    .sql(
      `SELECT m.since_at, (SELECT count(*) FROM monitor_states s WHERE s.job = j.n) AS pages
       FROM jobs j JOIN monitors m ON m.job = j.n WHERE j.id = ?`,
    )
    .get(jobId) as { since_at: number; pages: number } | undefined;
  return row === undefined ? null : { sinceAt: row.since_at, pages: Number(row.pages) };
}

/** Keeps the newest `keep` changes of the job, within the caller's transaction; returns how many it removed. */
function dropChanges(context: Context, job: number, keep: number, limit: number): number {
  const { connection } = context;
  const which = `SELECT c.n FROM monitor_changes c JOIN monitors m ON m.job = c.job
    WHERE c.job = ?1 AND c.number <= m.changes - ?2 ORDER BY c.number LIMIT ?3`;
  if (connection.sql(which).get(job, keep, limit) === undefined) return 0;
  const files = connection.sql(`SELECT DISTINCT hash FROM monitor_files WHERE change IN (${which})`);
  recordOrphanedFiles(
    context,
    rows<{ hash: Uint8Array }>(files.all(job, keep, limit)).map(({ hash }) => hex(hash)),
  );
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  connection.sql(`DELETE FROM monitor_files WHERE change IN (${which})`).run(job, keep, limit);
  return Number(connection.sql(`DELETE FROM monitor_changes WHERE n IN (${which})`).run(job, keep, limit).changes);
}

/** Removes up to `limit` of the oldest changes that the job's monitor no longer keeps; returns how many. */
export function trimMonitor(context: Context, runId: string, keep: number, limit: number): number {
  return context.connection.write(() => {
    const job = lockMonitor(context, runId);
    return job === null ? 0 : dropChanges(context, job, keep, limit);
  });
}

/** Excludes other processes that compare pages of the same job. Null: the job was deleted. */
export function lockMonitor(context: Context, runId: string): number | null {
  const { connection } = context;
  lockRuns(context, [runId]);
  const job = connection.sql("SELECT j.n FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?").get(runId);
  if (job === undefined) return null;
  connection.dialect.lockName(connection, `monitor:${Number(job["n"])}`);
  return Number(job["n"]);
}

/** A monitor whose job was deleted; its rows are removed bit by bit, this one as the last. */
const WITHOUT_JOB = "SELECT job FROM monitors WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.n = monitors.job) LIMIT 1";

/** Removes up to about `limit` rows of the monitors of deleted jobs; 0: there are none. */
export function dropMonitorsWithoutJob(context: Context, limit: number): number {
  const { connection } = context;
  const next = connection.sql(WITHOUT_JOB).get() as { job: number } | undefined;
  if (next === undefined) return 0;
  return connection.write(() => dropMonitor(context, next.job, limit));
}

function dropMonitor(context: Context, job: number, limit: number): number {
  const { connection } = context;
  const changes = dropChanges(context, job, 0, limit);
  if (changes > 0) return changes;
  const which = "job = ?1 AND key_hash IN (SELECT key_hash FROM monitor_states WHERE job = ?1 LIMIT ?2)";
  if (connection.sql("SELECT 1 FROM monitor_states WHERE job = ? LIMIT 1").get(job) !== undefined) {
    connection
      .sql(`INSERT INTO orphaned_files SELECT DISTINCT hash FROM monitor_states WHERE ${which} ON CONFLICT DO NOTHING`)
      .run(job, limit);
    connection.dialect.outliveCrash(connection);
    return Number(connection.sql(`DELETE FROM monitor_states WHERE ${which}`).run(job, limit).changes);
  }
  return Number(connection.sql("DELETE FROM monitors WHERE job = ?").run(job).changes);
}
