/** What keeps a crawl from having one page twice: redirects onto known pages, and pages that say the same. */
import type { TrapState } from "../../domain/traps.ts";
import type { SettledTask } from "../port.ts";
import { type Context, keyHash, parseJson, STATE } from "./context.ts";

/**
 * The page that a redirect led to, when another task stands for it: one of its own, or one that was redirected there
 * before. A task that was skipped stands for nothing.
 */
export function knownLanding(context: Context, { task, report }: SettledTask): { url: string } | null {
  if (report?.landed === undefined) return null;
  const hash = keyHash(task.runId, report.landed.key);
  const other = context.connection
    .sql(
      `SELECT id FROM tasks WHERE state NOT IN (${STATE.skipped}, ${STATE.cancelled}) AND id = coalesce(
         (SELECT a.task FROM aliases a JOIN streams s ON s.run = a.run WHERE s.id = ?1 AND a.key_hash = ?2),
         (SELECT id FROM tasks WHERE key_hash = ?2))`,
    )
    .get(task.streamId, hash) as { id: number } | undefined;
  return other === undefined || other.id === task.row ? null : { url: report.landed.url };
}

/** From now on this task stands for the page that it was redirected to. */
export function claimLanding({ connection }: Context, { task, report }: SettledTask): void {
  if (report?.landed === undefined || report.landed.key === task.key) return;
  connection
    .sql("INSERT OR REPLACE INTO aliases (run, key_hash, task) SELECT run, ?, ? FROM streams WHERE id = ?")
    .run(keyHash(task.runId, report.landed.key), task.row, task.streamId);
}

/** Most runs have none, and then nobody needs to look for them. */
export function hasAliases({ connection }: Context, run: number): boolean {
  return connection.sql("SELECT 1 FROM aliases WHERE run = ? LIMIT 1").get(run) !== undefined;
}

/** The address of the page that was the first to say what this one says; null: this one is. */
export function duplicateOf({ connection }: Context, { task, report }: SettledTask): string | null {
  if (report?.content === undefined) return null;
  const hash = Buffer.from(report.content, "hex").subarray(0, 16);
  const { changes } = connection
    .sql("INSERT INTO contents (run, hash, task) SELECT run, ?, ? FROM streams WHERE id = ? ON CONFLICT DO NOTHING")
    .run(hash, task.row, task.streamId);
  if (changes === 1) return null;
  const first = connection
    .sql(
      `SELECT json_extract(r.data, '$.url') AS url FROM streams s JOIN contents c ON c.run = s.run
         JOIN results r ON r.task = c.task AND r.ordinal = 0
       WHERE s.id = ? AND c.hash = ? AND c.task <> ?`,
    )
    .get(task.streamId, hash, task.row) as { url: string | null } | undefined;
  return first?.url ?? null;
}

export function writeTraps({ connection }: Context, runId: string, state: TrapState): void {
  connection
    .sql("INSERT OR REPLACE INTO run_traps (run, state) SELECT n, ? FROM runs WHERE id = ?")
    .run(JSON.stringify(state), runId);
}

export function readTraps({ connection }: Context, run: number): TrapState | null {
  const row = connection.sql("SELECT state FROM run_traps WHERE run = ?").get(run) as { state: string } | undefined;
  return parseJson<TrapState | null>(row?.state, null);
}
