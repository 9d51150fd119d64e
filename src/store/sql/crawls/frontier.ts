/** Deduplication of crawled pages: redirects to known pages, and pages with equal content. */
import type { TrapState } from "../../../domain/crawl/traps.ts";
import type { SettledTask } from "../../ports/port.ts";
import type { ForEach } from "../kernel/connection.ts";
import { type Context, keyHash, parseJson, STATE } from "../kernel/context.ts";
import type { TaskEnd } from "../tasks/write-task.ts";

/**
 * The landing page of a redirect, if another task represents it: the page's own task, or one redirected there earlier.
 * Skipped tasks represent nothing.
 */
export function knownLandings(
  { connection }: Context,
  list: readonly SettledTask[],
): Map<SettledTask, { url: string }> {
  const landed = list.flatMap((settled) => {
    const landing = settled.report?.landed;
    return landing !== undefined && ENDS_ELSEWHERE.has(settled.verdict.kind) ? [{ settled, landing }] : [];
  });
  if (landed.length === 0) return new Map();
  const found = connection.dialect.firsts(
    connection,
    landed.map(({ settled: { task }, landing }) => ({
      text: KNOWN_LANDING,
      values: [task.streamId, keyHash(task.runId, landing.key)],
    })),
  );
  const known = landed.filter(({ settled }, index) => (found[index]?.["id"] ?? settled.task.row) !== settled.task.row);
  return new Map(known.map(({ settled, landing }) => [settled, { url: landing.url }]));
}

const ENDS_ELSEWHERE = new Set<SettledTask["verdict"]["kind"]>(["completed", "moved"]);

const KNOWN_LANDING = `SELECT id FROM tasks WHERE state NOT IN (${STATE.skipped}, ${STATE.cancelled}) AND id = coalesce(
  (SELECT a.task FROM page_aliases a JOIN streams s ON s.run = a.run WHERE s.id = ?1 AND a.key_hash = ?2),
  (SELECT id FROM tasks WHERE key_hash = ?2))`;

/** From now on this task represents the page it was redirected to. */
export function claimLanding({ connection }: Context, { task, report }: SettledTask): void {
  if (report?.landed === undefined || report.landed.key === task.key) return;
  connection
    .sql(`INSERT INTO page_aliases (run, key_hash, task) SELECT run, ?, ? FROM streams WHERE id = ?
         ON CONFLICT (run, key_hash) DO UPDATE SET task = excluded.task`)
    .run(keyHash(task.runId, report.landed.key), task.row, task.streamId);
}

/** Most runs have none, which saves the lookups. */
export function hasAliases({ connection }: Context, run: number): boolean {
  return connection.sql("SELECT 1 FROM page_aliases WHERE run = ? LIMIT 1").get(run) !== undefined;
}

const FIND_CONTENT: ForEach = {
  text: "SELECT new.row_index AS row_index, t.id FROM tasks t, new WHERE t.content = new.content",
  columns: { content: "bytea" },
};

const FIRST_URL = `SELECT json_extract(r.data, '$.url') AS url FROM tasks t
    JOIN results r ON r.task = t.id AND r.ordinal = 0
  WHERE t.content = ?`;

/** Eight bytes of run number and sixteen of content hash; stored at the run's first page with this content. */
function contentKey(run: number, content: string): Buffer {
  const key = Buffer.alloc(24);
  key.writeBigUInt64BE(BigInt(run));
  key.write(content, 8, "hex");
  return key;
}

/** Marks pages whose content another page of the run has already. */
export class Duplicates {
  readonly #found: () => ReadonlyMap<string, number>;
  readonly #seen = new Set<string>();

  /** Looks up the contents of all these pages. */
  constructor({ connection }: Context, tasks: readonly SettledTask[]) {
    const keys = tasks.flatMap((settled) => {
      const content = settled.report?.content;
      return content === undefined || settled.verdict.kind !== "completed"
        ? []
        : [contentKey(settled.task.run, content)];
    });
    const answer = connection.dialect.lookUp(
      connection,
      FIND_CONTENT,
      keys.map((key) => [key]),
    );
    let found: Map<string, number> | null = null;
    this.#found = () =>
      (found ??= new Map(
        answer().flatMap((row, index): [string, number][] =>
          row === undefined ? [] : [[(keys[index] as Buffer).toString("latin1"), Number(row["id"])]],
        ),
      ));
  }

  mark(ends: readonly TaskEnd[]): void {
    for (const end of ends) {
      const { task, report } = end.settled;
      const content = end.state === "completed" ? report?.content : undefined;
      if (content === undefined) continue;
      const key = contentKey(task.run, content);
      const name = key.toString("latin1");
      const first = this.#found().get(name) ?? task.row;
      if (first !== task.row || this.#seen.has(name)) end.repeats = key;
      else end.content = key;
      this.#seen.add(name);
    }
  }
}

/** The URLs of the first pages with these contents; null: none. */
export function firstUrlsOf({ connection }: Context, contents: readonly Uint8Array[]): (string | null)[] {
  const found = connection.dialect.firsts(
    connection,
    contents.map((content) => ({ text: FIRST_URL, values: [content] })),
  );
  return found.map((row) => (row?.["url"] ?? null) as string | null);
}

export function writeTraps({ connection }: Context, runId: string, state: TrapState): void {
  connection
    .sql(`INSERT INTO run_traps (run, state) SELECT n, ? FROM runs WHERE id = ?
         ON CONFLICT (run) DO UPDATE SET state = excluded.state`)
    .run(JSON.stringify(state), runId);
}

export function readTraps({ connection }: Context, run: number): TrapState | null {
  const row = connection.sql("SELECT state FROM run_traps WHERE run = ?").get(run) as { state: string } | undefined;
  return parseJson<TrapState | null>(row?.state, null);
}
