/** Page states that saved crawls keep from run to run, and the changes that each run found. */
import { type ChangeCounts, type ListedChange, PAGE_CHANGES, scopeHashOf } from "../../../domain/page/page-change.ts";
import type { EndReason } from "../../../domain/crawl/crawl-end.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import type { PageChangeRecord } from "../../ports/crawl-port.ts";
import type { SettledTask } from "../../ports/port.ts";
import type { ForEach, Value } from "../kernel/connection.ts";
import { type Context, keyHash, mergeFacts, parseJson, rows } from "../kernel/context.ts";

/** Without a run: the row's key already contains the job. */
export function stateHash(key: string): Uint8Array {
  return keyHash("", key);
}

export function readPageDigest({ connection }: Context, jobId: string, key: string): string | null {
  const row = connection
    .sql(
      `SELECT lower(hex(s.digest)) AS digest FROM jobs j JOIN page_states s ON s.job = j.n AND s.key_hash = ?2 WHERE j.id = ?1`,
    )
    .get(jobId, stateHash(key)) as { digest: string } | undefined;
  return row?.digest ?? null;
}

/** A run compares its pages if the job has states: decided at its start, before its first page. */
export function beginComparison(context: Context, run: number): void {
  const { connection } = context;
  const row = connection.sql("SELECT job, facts FROM runs WHERE n = ?").get(run) as {
    job: string | null;
    facts: string | null;
  };
  if (row.job === null || parseJson<RunFacts>(row.facts, {}).changes !== undefined) return;
  const known = "SELECT 1 FROM jobs j JOIN page_states s ON s.job = j.n WHERE j.id = ? LIMIT 1";
  if (connection.sql(known).get(row.job) === undefined) return;
  const before = connection
    .sql(
      `SELECT id FROM runs WHERE job = ? AND n < ? AND started_at IS NOT NULL AND removing_at IS NULL
       ORDER BY n DESC LIMIT 1`,
    )
    .get(row.job, run) as { id: string } | undefined;
  const changes: ChangeCounts = {
    compared_with: before?.id ?? null,
    new: 0,
    changed: 0,
    unchanged: 0,
    gone: 0,
    unknown: null,
  };
  mergeFacts(context, run, { changes });
}

function jobOf({ connection }: Context, run: number): string {
  return String(connection.sql("SELECT job FROM runs WHERE n = ?").get(run)?.["job"]);
}

function scopeHashOfRun({ connection }: Context, run: number): Uint8Array {
  const { snapshot } = connection.sql("SELECT snapshot FROM runs WHERE n = ?").get(run) as { snapshot: string };
  const { options = {} } = JSON.parse(snapshot) as { options?: Record<string, unknown> };
  return Buffer.from(scopeHashOf(options), "hex");
}

/** The job may have been deleted meanwhile. */
const JOB_OF_NEW = "(SELECT j.n FROM runs r JOIN jobs j ON j.id = r.job WHERE r.n = new.run)";

/** A reopened run does not overwrite the run number of a later one. */
const KEEP_STATE: ForEach = {
  text: `INSERT INTO page_states (job, key_hash, url, digest, run, scope_hash, redirected)
    SELECT ${JOB_OF_NEW}, new.key_hash, new.url, new.digest, new.run, new.scope_hash, new.redirected FROM new
    WHERE ${JOB_OF_NEW} IS NOT NULL
    ON CONFLICT (job, key_hash) DO UPDATE SET url = excluded.url, digest = excluded.digest, scope_hash = excluded.scope_hash,
      redirected = excluded.redirected, run = CASE WHEN excluded.run > page_states.run THEN excluded.run ELSE page_states.run END`,
  columns: {
    run: "bigint",
    key_hash: "bytea",
    url: "text",
    digest: "bytea",
    scope_hash: "bytea",
    redirected: "bigint",
  },
};

const LIST_CHANGE: ForEach = {
  text: `INSERT INTO page_changes (run, key_hash, change, url)
    SELECT new.run, new.key_hash, new.change, new.url FROM new WHERE true ON CONFLICT DO NOTHING`,
  columns: { run: "bigint", key_hash: "bytea", change: "bigint", url: "text" },
};

/** What the failure of a crawl's page says about the page itself; null: nothing. */
export function goneByFailure({ task, verdict }: SettledTask): "missing" | "disallowed" | null {
  if (verdict.kind !== "failed" || task.runKind !== "crawl" || task.auxiliary) return null;
  if (verdict.failure.reason === "http_not_found") return "missing";
  return verdict.failure.reason === "robots_disallowed" ? "disallowed" : null;
}

type Counted = "new" | "changed" | "unchanged" | "gone";

/** Page states of the outcomes of one transaction. */
export class PageStates {
  readonly #context: Context;
  /** Per run: no statement may write a row twice. */
  readonly #states = new Map<number, Value[][]>();
  readonly #changes: Value[][] = [];
  readonly #counts = new Map<number, Partial<Record<Counted, number>>>();

  constructor(context: Context) {
    this.#context = context;
  }

  completed(run: number, { report }: SettledTask): void {
    const page = report?.page;
    if (page === undefined) return;
    const hash = stateHash(page.key);
    const states = this.#states.get(run) ?? [];
    this.#states.set(run, states);
    const [digest, scopeHash] = [Buffer.from(page.digest, "hex"), Buffer.from(page.scopeHash, "hex")];
    states.push([run, hash, page.url, digest, scopeHash, page.isRedirected ? 1 : 0]);
    if (page.change === null) return;
    if (page.change !== "unchanged") this.#list(run, hash, page.change, page.url);
    this.#count(run, page.change);
  }

  failed(run: number, settled: SettledTask): void {
    const gone = goneByFailure(settled);
    if (gone === "missing") this.#missing(run, settled);
    if (gone === "disallowed") this.#disallowed(run, settled);
  }

  /** The page no longer exists. */
  #missing(run: number, { task }: SettledTask): void {
    const hash = stateHash(task.key);
    const row = this.#context.connection
      .sql(
        `DELETE FROM page_states WHERE key_hash = ?1 AND run < ?2
           AND job = (SELECT j.n FROM runs r JOIN jobs j ON j.id = r.job WHERE r.n = ?2) RETURNING url`,
      )
      .get(hash, run) as { url: string } | undefined;
    if (row === undefined) return;
    this.#list(run, hash, "gone", row.url);
    this.#count(run, "gone");
  }

  /** robots.txt forbids checking whether it still exists, and following its links. */
  #disallowed(run: number, { task }: SettledTask): void {
    const { changes } = this.#context.connection
      .sql(
        `UPDATE page_states SET run = ?2 WHERE key_hash = ?1
           AND job = (SELECT j.n FROM runs r JOIN jobs j ON j.id = r.job WHERE r.n = ?2)`,
      )
      .run(stateHash(task.key), run);
    if (changes > 0) mergeFacts(this.#context, run, { sees_part: true });
  }

  write(): void {
    const { connection } = this.#context;
    for (const states of this.#states.values()) connection.dialect.each(connection, KEEP_STATE, states);
    if (this.#changes.length > 0) connection.dialect.each(connection, LIST_CHANGE, this.#changes);
    for (const [run, counts] of this.#counts) addCounts(this.#context, run, counts);
  }

  #list(run: number, hash: Uint8Array, change: ListedChange, url: string): void {
    this.#changes.push([run, hash, PAGE_CHANGES.indexOf(change), url]);
  }

  #count(run: number, what: Counted): void {
    const counts = this.#counts.get(run) ?? {};
    counts[what] = (counts[what] ?? 0) + 1;
    this.#counts.set(run, counts);
  }
}

function addCounts(context: Context, run: number, counts: Partial<Record<Counted, number>>): void {
  const changes = changesOf(context, run);
  if (changes === undefined) return;
  for (const [name, count] of Object.entries(counts)) changes[name as Counted] += count;
  mergeFacts(context, run, { changes });
}

function factsOf({ connection }: Context, run: number): RunFacts {
  const row = connection.sql("SELECT facts FROM runs WHERE n = ?").get(run) as { facts: string | null };
  return parseJson<RunFacts>(row.facts, {});
}

function changesOf(context: Context, run: number): ChangeCounts | undefined {
  return factsOf(context, run).changes;
}

/**
 * Concludes the comparison at the end of a crawl. If it reached and fetched every page it could, pages that it did not
 * reach are no longer linked; otherwise that is unknown. It is unknown as well for pages of other options, and for
 * redirect targets.
 */
export function concludeComparison(
  context: Context,
  run: number,
  end: { status: string; end_reason: EndReason; sitemapsUnread: number },
): ChangeCounts | null {
  const { connection } = context;
  const { changes, sees_part = false } = factsOf(context, run);
  if (changes === undefined) return null;
  const notReached = "job = (SELECT j.n FROM runs r JOIN jobs j ON j.id = r.job WHERE r.n = ?1) AND run < ?1";
  const isComplete =
    end.status === "completed" && end.end_reason === "exhausted" && end.sitemapsUnread === 0 && !sees_part;
  let gone = 0;
  if (isComplete) {
    // Another run of the job may write states at the same time.
    connection.dialect.lockName(connection, `job:${jobOf(context, run)}`);
    const unseen = `${notReached} AND scope_hash = ?2 AND redirected = 0`;
    const scopeHash = scopeHashOfRun(context, run);
    mergeFacts(context, run, { reached_all: Buffer.from(scopeHash).toString("hex") });
    connection
      .sql(
        `INSERT INTO page_changes (run, key_hash, change, url)
         SELECT ?1, key_hash, ${PAGE_CHANGES.indexOf("gone")}, url FROM page_states WHERE ${unseen} ON CONFLICT DO NOTHING`,
      )
      .run(run, scopeHash);
    gone = Number(connection.sql(`DELETE FROM page_states WHERE ${unseen}`).run(run, scopeHash).changes);
  }
  const { n: unknown } = connection.sql(`SELECT count(*) AS n FROM page_states WHERE ${notReached}`).get(run) as {
    n: number;
  };
  return keep(context, run, { ...changes, gone: changes.gone + gone, unknown });
}

function keep(context: Context, run: number, changes: ChangeCounts): ChangeCounts {
  mergeFacts(context, run, { changes });
  return changes;
}

export function readPageChanges(
  { connection }: Context,
  runId: string,
  { change, after, limit }: { change?: ListedChange; after?: string; limit: number },
): PageChangeRecord[] {
  const [kind = "-1", hash = ""] = (after ?? "").split(".");
  const list = connection
    .sql(
      `SELECT c.change, lower(hex(c.key_hash)) AS hash, c.url FROM runs r JOIN page_changes c ON c.run = r.n
       WHERE r.id = ?1 AND (c.change > ?2 OR (c.change = ?2 AND c.key_hash > ?3)) AND (?4 < 0 OR c.change = ?4)
       ORDER BY c.change, c.key_hash LIMIT ?5`,
    )
    .all(
      runId,
      after === undefined ? -1 : Number(kind),
      Buffer.from(hash, "hex"),
      change === undefined ? -1 : PAGE_CHANGES.indexOf(change),
      limit,
    );
  return rows<{ change: number; hash: string; url: string }>(list).map((row) => ({
    cursor: `${row.change}.${row.hash}`,
    change: PAGE_CHANGES[row.change]!,
    url: row.url,
  }));
}

const FRESH: readonly Exclude<ListedChange, "gone">[] = ["new", "changed"];

export function readChangesAmong(
  { connection }: Context,
  runId: string,
  keys: readonly string[],
): (Exclude<ListedChange, "gone"> | null)[] {
  const kinds = FRESH.map((change) => PAGE_CHANGES.indexOf(change)).join(", ");
  const text = `SELECT c.change FROM runs r JOIN page_changes c ON c.run = r.n AND c.change IN (${kinds}) AND c.key_hash = ?
    WHERE r.id = ? ORDER BY c.change LIMIT 1`;
  const found = connection.dialect.firsts(
    connection,
    keys.map((key) => ({ text, values: [stateHash(key), runId] })),
  );
  return found.map((row) => (row === undefined ? null : FRESH[Number(row["change"])]!));
}

/** Deletes up to `limit` states of a job, within the caller's transaction; false: there were none. */
export function dropStates({ connection }: Context, job: number, limit: number): boolean {
  return (
    connection
      .sql(
        `DELETE FROM page_states WHERE job = ?1
           AND key_hash IN (SELECT key_hash FROM page_states WHERE job = ?1 LIMIT ?2)`,
      )
      .run(job, limit).changes > 0
  );
}
