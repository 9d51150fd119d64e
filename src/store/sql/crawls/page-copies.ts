/** Page copies that saved crawls keep from run to run. */
import { encodeId } from "../../../domain/run/ids.ts";
import type { PageCopyRecord } from "../../ports/crawl-port.ts";
import type { SettledTask } from "../../ports/port.ts";
import { type Context, keyHash } from "../kernel/context.ts";

/** Without a run: the row's key already contains the job. */
function copyHash(key: string): Uint8Array {
  return keyHash("", key);
}

interface CopyRow {
  url: string;
  etag: string | null;
  last_modified: string | null;
  fingerprint: string;
  task: number;
  records: number;
  payload: Uint8Array;
}

/** In place of the record count where records are not needed. */
const BARE = -1;

/** The task and all its records must still exist: their run may have been removed, even partly. */
export function readPageCopy(context: Context, jobId: string, key: string, fingerprint: string): PageCopyRecord | null {
  const row = context.connection
    .sql(
      `SELECT c.url, c.etag, c.last_modified, c.fingerprint, c.task, c.records, c.payload
       FROM jobs j JOIN page_copies c ON c.job = j.n AND c.key_hash = ?2
         LEFT JOIN tasks t ON t.id = c.task
       WHERE j.id = ?1 AND c.fingerprint = ?3 AND (c.records = ${BARE}
         OR (t.id IS NOT NULL AND (SELECT count(*) FROM results WHERE task = c.task) = c.records))`,
    )
    .get(jobId, copyHash(key), fingerprint) as CopyRow | undefined;
  if (row === undefined) return null;
  return {
    url: row.url,
    etag: row.etag,
    lastModified: row.last_modified,
    fingerprint: row.fingerprint,
    payload: row.payload,
    taskId: encodeId(context.instance, "task", row.task),
    records: row.records,
  };
}

/** Replaced only together with its outcome. */
export function keepCopy(context: Context, { task, report }: SettledTask, records: number): void {
  const { connection } = context;
  const copy = report?.copy;
  if (copy === undefined) return;
  if (copy === null)
    connection
      .sql(
        `DELETE FROM page_copies WHERE key_hash = ?1
           AND job = (SELECT j.n FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?2)`,
      )
      .run(copyHash(task.key), task.runId);
  else
    connection
      .sql(
        `INSERT INTO page_copies (job, key_hash, url, etag, last_modified, fingerprint, task, records, payload)
         SELECT j.n, ?, ?, ?, ?, ?, ?, ?, ? FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ?
         ON CONFLICT (job, key_hash) DO UPDATE SET url = excluded.url, etag = excluded.etag,
           last_modified = excluded.last_modified, fingerprint = excluded.fingerprint, task = excluded.task,
           records = excluded.records, payload = excluded.payload`,
      )
      .run(
        copyHash(task.key),
        copy.url,
        copy.etag,
        copy.lastModified,
        copy.fingerprint,
        task.row,
        copy.isBare === true ? BARE : records,
        copy.payload,
        task.runId,
      );
}

/** Deletes up to `limit` copies of a job, within the caller's transaction; false: there were none. */
export function dropCopies({ connection }: Context, job: number, limit: number): boolean {
  return (
    connection
      .sql(
        `DELETE FROM page_copies WHERE job = ?1
           AND key_hash IN (SELECT key_hash FROM page_copies WHERE job = ?1 LIMIT ?2)`,
      )
      .run(job, limit).changes > 0
  );
}
