/** Pages of runs of monitors, from their outcome until they are compared with the last good state. */
import type { VolatileProfile } from "../../../domain/monitor/volatile/profile.ts";
import type { SharedProfile } from "../../../domain/monitor/volatile/shared.ts";
import type { SettledTask } from "../../ports/port.ts";
import type { KnownPage, MonitorRun, MonitorState, WaitingPage } from "../../ports/monitors/monitor-port.ts";
import { type Context, keyHash, parseJson, rows } from "../kernel/context.ts";
import { recordOrphanedFiles } from "../runs/orphaned-files.ts";

/** Without a run: the row's key already contains the job. */
export const monitorKey = (key: string): Uint8Array => keyHash("", key);

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const fromHex = (text: string | null) => (text === null ? null : Buffer.from(text, "hex"));

/** Keeps what the task found; a page that is fetched again replaces it. */
export function keepMonitoredPage(context: Context, { task, report }: SettledTask, run: number, now: number): void {
  const page = report?.monitored;
  if (page === undefined) return;
  const { connection } = context;
  // A task without a history has no page yet.
  if (task.attempts.length > 0) replaceWaiting(context, task.row);
  const { content, again } = page;
  const written = connection
    .sql(
      `INSERT INTO monitor_pages (job, run, task, key_hash, url, rules, gone, hash, size, again_hash, again_size, sealed,
         digest, scope_hash, redirected, read_at)
       SELECT j.n, r.n, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM runs r JOIN jobs j ON j.id = r.job WHERE r.n = ?`,
    )
    .run(
      task.row,
      monitorKey(page.key),
      page.url,
      page.rules,
      content === null ? 1 : 0,
      fromHex(content?.hash ?? null),
      content?.size ?? null,
      fromHex(again?.hash ?? null),
      again?.size ?? null,
      content?.isSealed === true ? 1 : 0,
      content?.digest ?? null,
      fromHex(page.scopeHash),
      page.isRedirected ? 1 : 0,
      Math.round(now),
      run,
    );
  if (Number(written.changes) > 0)
    connection.sql("UPDATE runs SET monitor_due = 1 WHERE n = ? AND monitor_due = 0").run(run);
}

function replaceWaiting(context: Context, task: number): void {
  const { connection } = context;
  const before = connection.sql("SELECT hash, again_hash FROM monitor_pages WHERE task = ?").get(task) as
    | { hash: Uint8Array | null; again_hash: Uint8Array | null }
    | undefined;
  if (before === undefined) return;
  const files = [before.hash, before.again_hash].filter((hash) => hash !== null);
  recordOrphanedFiles(context, files.map(hex));
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  connection.sql("DELETE FROM monitor_pages WHERE task = ?").run(task);
}

export interface StateRow {
  rules: string;
  hash: Uint8Array;
  size: number;
  sealed: number;
  digest: string;
  profile: string | null;
  shared: string | null;
  run: number;
  read_at: number;
  changed_at: number;
}

const toState = (row: Omit<StateRow, "run">): MonitorState => ({
  rules: row.rules,
  content: { hash: hex(row.hash), size: row.size, isSealed: row.sealed === 1, digest: row.digest },
  profile: parseJson<VolatileProfile | null>(row.profile, null),
  shared: parseJson<SharedProfile | null>(row.shared, null),
  readAt: row.read_at,
  contentAt: row.changed_at,
});

const STATE_COLUMNS =
  "s.rules, s.hash, s.size, s.sealed, s.digest, s.profile, m.profile AS shared, s.run, s.read_at, s.changed_at";

export function readMonitorState({ connection }: Context, jobId: string, key: string): MonitorState | null {
  const row = connection
    .sql(
      `SELECT ${STATE_COLUMNS} FROM jobs j JOIN monitor_states s ON s.job = j.n AND s.key_hash = ?2
         LEFT JOIN monitors m ON m.job = j.n WHERE j.id = ?1`,
    )
    .get(jobId, monitorKey(key)) as StateRow | undefined;
  return row === undefined ? null : toState(row);
}

export function readKnownPages(
  { connection }: Context,
  jobId: string,
  { after, limit }: { after: string; limit: number },
): KnownPage[] {
  const list = connection
    .sql(
      `SELECT s.key_hash, s.url, ${STATE_COLUMNS} FROM jobs j JOIN monitor_states s ON s.job = j.n
         LEFT JOIN monitors m ON m.job = j.n WHERE j.id = ?1 AND s.key_hash > ?2 ORDER BY s.key_hash LIMIT ?3`,
    )
    .all(jobId, Buffer.from(after, "hex"), limit);
  return rows<StateRow & { key_hash: Uint8Array; url: string }>(list).map((row) => ({
    position: hex(row.key_hash),
    url: row.url,
    state: toState(row),
  }));
}

/** Worded like the partial index, so that it applies. */
export const MONITOR_IS_DUE = `monitor_due = 1 AND removing_at IS NULL
  AND (status IN ('failed', 'cancelled') OR (status IN ('completed', 'partial') AND health_generation >= generation))`;

/** A page that is gone is no failure of the run. */
const IS_GONE = `(r.kind = 'page' AND EXISTS (SELECT 1 FROM monitor_pages p WHERE p.run = r.n AND p.gone = 1))`;

export function monitorsDue({ connection }: Context, limit: number): MonitorRun[] {
  const list = connection
    .sql(
      `SELECT r.id, r.generation, CASE WHEN (r.status IN ('failed', 'cancelled') AND NOT ${IS_GONE})
           OR EXISTS (SELECT 1 FROM run_health h WHERE h.run = r.n AND h.generation = r.generation
             AND h.reasons IS NOT NULL AND h.accepted_at IS NULL)
           OR NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = r.job) THEN 1 ELSE 0 END AS useless
       FROM (SELECT * FROM runs WHERE ${MONITOR_IS_DUE} ORDER BY n LIMIT ?) AS r ORDER BY r.n`,
    )
    .all(limit);
  return rows<{ id: string; generation: number; useless: number }>(list).map((row) => ({
    runId: row.id,
    generation: row.generation,
    drop: row.useless === 1,
  }));
}

interface WaitingRow {
  n: number;
  url: string;
  rules: string;
  hash: Uint8Array | null;
  size: number | null;
  again_hash: Uint8Array | null;
  again_size: number | null;
  sealed: number;
  digest: string | null;
  read_at: number;
  state_rules: string | null;
  state_hash: Uint8Array | null;
  state_size: number | null;
  state_sealed: number | null;
  state_digest: string | null;
  profile: string | null;
  shared: string | null;
  state_read_at: number | null;
  state_changed_at: number | null;
}

export function readWaitingPages({ connection }: Context, runId: string, limit: number): WaitingPage[] {
  const list = connection
    .sql(
      `SELECT p.n, p.url, p.rules, p.hash, p.size, p.again_hash, p.again_size, p.sealed, p.digest, p.read_at,
         s.rules AS state_rules, s.hash AS state_hash, s.size AS state_size, s.sealed AS state_sealed,
         s.digest AS state_digest, s.profile, m.profile AS shared, s.read_at AS state_read_at, s.changed_at AS state_changed_at
       FROM runs r JOIN monitor_pages p ON p.run = r.n
         LEFT JOIN monitor_states s ON s.job = p.job AND s.key_hash = p.key_hash AND s.rules = p.rules
         LEFT JOIN monitors m ON m.job = p.job
       WHERE r.id = ? ORDER BY p.n LIMIT ?`,
    )
    .all(runId, limit);
  return rows<WaitingRow>(list).map((row) => ({
    number: row.n,
    url: row.url,
    rules: row.rules,
    content:
      row.hash === null
        ? null
        : { hash: hex(row.hash), size: row.size!, isSealed: row.sealed === 1, digest: row.digest ?? "" },
    again: row.again_hash === null ? null : { hash: hex(row.again_hash), size: row.again_size! },
    readAt: row.read_at,
    state:
      row.state_hash === null
        ? null
        : toState({
            rules: row.state_rules!,
            hash: row.state_hash,
            size: row.state_size!,
            sealed: row.state_sealed!,
            digest: row.state_digest!,
            profile: row.profile,
            shared: row.shared,
            read_at: row.state_read_at!,
            changed_at: row.state_changed_at!,
          }),
  }));
}

/** Removes rows and records their files, which a later sweep removes unless another row references them. */
export function dropWaiting(context: Context, which: string, ...values: (string | number)[]): number {
  const { connection } = context;
  const found = rows<{ hash: Uint8Array | null; again_hash: Uint8Array | null }>(
    connection.sql(`SELECT hash, again_hash FROM monitor_pages WHERE ${which}`).all(...values),
  );
  if (found.length === 0) return 0;
  const files = found.flatMap((row) => [row.hash, row.again_hash]).filter((hash) => hash !== null);
  recordOrphanedFiles(context, files.map(hex));
  // The files are deleted next.
  connection.dialect.outliveCrash(connection);
  return Number(connection.sql(`DELETE FROM monitor_pages WHERE ${which}`).run(...values).changes);
}

export function dropWaitingOf(context: Context, run: number, limit: number): number {
  return dropWaiting(context, "n IN (SELECT n FROM monitor_pages WHERE run = ? ORDER BY n LIMIT ?)", run, limit);
}
