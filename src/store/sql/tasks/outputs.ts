import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import type { ArtifactRole } from "../../../domain/run/outcome.ts";
import type { ArtifactRecord, ResultRecord } from "../../records/output-records.ts";
import { ofVisibleRuns } from "../kernel/caller-limits.ts";
import { badPosition, type Context, rows } from "../kernel/context.ts";
import { requireRunNumber } from "../runs/runs.ts";

/** Reads task outputs: files and records. */
interface ArtifactRow {
  n: number;
  task: number;
  hash: Uint8Array;
  size: number;
  content_type: string | null;
  url: string;
  created_at: number;
  role: ArtifactRole | null;
}

function toArtifact(context: Context, row: ArtifactRow): ArtifactRecord {
  return {
    id: encodeId(context.instance, "artifact", row.n),
    row: row.n,
    taskId: encodeId(context.instance, "task", row.task),
    hash: Buffer.from(row.hash).toString("hex"),
    size: row.size,
    contentType: row.content_type,
    url: row.url,
    role: row.role ?? "file",
    createdAt: row.created_at,
  };
}

export function artifactsSince(context: Context, time: number, after: number, limit: number): ArtifactRecord[] {
  const list = context.connection
    .sql("SELECT * FROM artifacts WHERE n > ? AND created_at >= ? ORDER BY n LIMIT ?")
    .all(after, time, limit);
  return rows<ArtifactRow>(list).map((row) => toArtifact(context, row));
}

export function artifactsOf(context: Context, taskId: string): ArtifactRecord[] {
  const row = decodeId(context.instance, "task", taskId);
  if (row === null) return [];
  return rows<ArtifactRow>(
    context.connection.sql("SELECT * FROM artifacts WHERE task = ? ORDER BY ordinal").all(row),
  ).map((found) => toArtifact(context, found));
}

export function readExchanges(
  context: Context,
  runId: string,
  options: { after?: string; limit: number },
): ArtifactRecord[] {
  const run = requireRunNumber(context, runId);
  const after = options.after === undefined ? 0 : decodeId(context.instance, "artifact", options.after);
  if (after === null) throw badPosition(options.after ?? "", "a file");
  const list = context.connection
    .sql("SELECT * FROM artifacts WHERE run = ? AND n > ? AND role IN ('exchange', 'redirect') ORDER BY n LIMIT ?")
    .all(run, after, options.limit);
  return rows<ArtifactRow>(list).map((row) => toArtifact(context, row));
}

export function resultsOf(context: Context, taskId: string): unknown[] {
  const row = decodeId(context.instance, "task", taskId);
  if (row === null) return [];
  const list = context.connection.sql("SELECT data FROM results WHERE task = ? ORDER BY ordinal").all(row);
  return rows<{ data: string }>(list).map((found) => JSON.parse(found.data));
}

export function readArtifact(context: Context, id: string): ArtifactRecord | null {
  const row = decodeId(context.instance, "artifact", id);
  const { text, values } = ofVisibleRuns();
  const found =
    row === null
      ? undefined
      : (context.connection
          .sql(`SELECT a.* FROM artifacts a JOIN runs ON runs.n = a.run WHERE a.n = ? AND removing_at IS NULL${text}`)
          .get(row, ...values) as ArtifactRow | undefined);
  return found === undefined ? null : toArtifact(context, found);
}

interface ResultRow {
  n: number;
  task: number;
  ordinal: number;
  data: string;
  created_at: number;
  url: string | null;
}

export function readResults(
  context: Context,
  runId: string,
  options: { after?: string; skip?: number; limit: number },
): ResultRecord[] {
  const run = requireRunNumber(context, runId);
  const after = options.after === undefined ? 0 : decodeId(context.instance, "result", options.after);
  if (after === null) throw badPosition(options.after ?? "", "a result");
  const list = context.connection
    .sql(
      `SELECT x.n, x.task, x.ordinal, x.data, x.created_at, coalesce(t.next_url, t.url) AS url
       FROM results x JOIN tasks t ON t.id = x.task WHERE x.run = ? AND x.n > ? ORDER BY x.n LIMIT ? OFFSET ?`,
    )
    .all(run, after, options.limit, options.skip ?? 0);
  return rows<ResultRow>(list).map((row) => ({
    id: encodeId(context.instance, "result", row.n),
    taskId: encodeId(context.instance, "task", row.task),
    runId,
    url: row.url,
    ordinal: row.ordinal,
    data: JSON.parse(row.data),
    createdAt: row.created_at,
  }));
}

export function countResults(context: Context, runId: string): number {
  const run = requireRunNumber(context, runId);
  return (context.connection.sql("SELECT count(*) AS n FROM results WHERE run = ?").get(run) as { n: number }).n;
}
