/** Writes what the comparison of a run found: states, changes, and at the end their event. */
import { describeChanges, type MonitorCounts, type PageChangeKind } from "../../../domain/monitor/monitored-page.ts";
import type { Monitored } from "../../../domain/monitor/options.ts";
import type { SharedProfile } from "../../../domain/monitor/volatile/shared.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import { shownUrl } from "../../../domain/text/url.ts";
import type { AlertRecord, NewAlert } from "../../ports/alert-port.ts";
import type { ComparedPage, MonitorStore } from "../../ports/monitors/monitor-port.ts";
import { insertAlerts } from "../catalog/alerts.ts";
import { appendEvent, type Context, mergeFacts, parseJson, rows } from "../kernel/context.ts";
import { recordOrphanedFiles } from "../runs/orphaned-files.ts";
import { lockMonitor } from "./changes.ts";
import { dropWaiting, dropWaitingOf, MONITOR_IS_DUE, type StateRow } from "./waiting-pages.ts";

interface RunRow {
  n: number;
  id: string;
  job: string;
  generation: number;
  name: string | null;
  url: string | null;
  facts: string | null;
  status: string;
}

interface PageRow {
  n: number;
  job: number;
  key_hash: Uint8Array;
  url: string;
  rules: string;
  hash: Uint8Array | null;
  size: number | null;
  sealed: number;
  digest: string | null;
  scope_hash: Uint8Array | null;
  redirected: number;
  read_at: number;
}

/** Of a run that ended: a reopened one goes on, and its pages wait. */
function dueRun({ connection }: Context, runId: string): RunRow | undefined {
  return connection
    .sql(`SELECT n, id, job, generation, name, url, facts, status FROM runs WHERE id = ? AND ${MONITOR_IS_DUE}`)
    .get(runId) as RunRow | undefined;
}

export function recordComparisons(
  context: Context,
  runId: string,
  what: Monitored,
  pages: readonly ComparedPage[],
  now: number,
  shared: SharedProfile | null = null,
): void {
  const { connection } = context;
  connection.write(
    () => {
      const job = lockMonitor(context, runId);
      const run = dueRun(context, runId);
      if (run === undefined) return;
      for (const page of pages) {
        const row = connection.sql("SELECT * FROM monitor_pages WHERE n = ? AND run = ?").get(page.number, run.n);
        if (row !== undefined) recordPage(context, run, row as unknown as PageRow, what, page, now);
      }
      if (shared !== null && job !== null)
        connection.sql("UPDATE monitors SET profile = ? WHERE job = ?").run(JSON.stringify(shared), job);
    },
    { durable: true },
  );
}

function recordPage(
  context: Context,
  run: RunRow,
  row: PageRow,
  what: Monitored,
  page: ComparedPage,
  now: number,
): void {
  const { connection } = context;
  const state = connection
    .sql("SELECT * FROM monitor_states WHERE job = ? AND key_hash = ?")
    .get(row.job, row.key_hash) as StateRow | undefined;
  const since = sinceRun(context, run, row);
  // Of runs that overlap, an older one may end later: what it saw is no news.
  const isStale = since > run.n || (state !== undefined && state.run > run.n);
  if (!isStale) {
    const known = state === undefined || state.rules !== row.rules ? null : Buffer.from(state.hash).toString("hex");
    // Compared with a state that is gone meanwhile: it is compared again.
    if (known !== page.comparedWith) return;
    write(context, run, row, { what, page, before: known === null ? null : state!, isFirst: since === run.n }, now);
  }
  dropWaiting(context, "n = ?", row.n);
}

/** The run whose pages are the first of this monitor. With other rules, the comparison starts anew. */
function sinceRun({ connection }: Context, run: RunRow, { job, rules, read_at: at }: PageRow): number {
  connection
    .sql(
      `INSERT INTO monitors (job, rules, since_run, since_at, changes) VALUES (?, ?, ?, ?, 0)
       ON CONFLICT (job) DO UPDATE SET rules = excluded.rules, since_run = excluded.since_run, since_at = excluded.since_at,
         profile = NULL WHERE monitors.rules <> excluded.rules AND monitors.since_run < excluded.since_run`,
    )
    .run(job, rules, run.n, at);
  return Number(connection.sql("SELECT since_run FROM monitors WHERE job = ?").get(job)?.["since_run"]);
}

interface Write {
  what: Monitored;
  page: ComparedPage;
  before: StateRow | null;
  /** The first run of the monitor: its pages are not news. */
  isFirst: boolean;
}

function write(context: Context, run: RunRow, row: PageRow, { what, page, before, isFirst }: Write, now: number): void {
  const { connection } = context;
  const { verdict } = page;
  const profile = page.profile === null ? null : JSON.stringify(page.profile);
  if (verdict === "same" || verdict === "kept") {
    if (before === null) return;
    connection
      .sql(
        `UPDATE monitor_states SET run = ?, read_at = ?, profile = coalesce(?, profile), digest = coalesce(?, digest),
           scope_hash = ?, redirected = ? WHERE job = ? AND key_hash = ?`,
      )
      .run(run.n, row.read_at, profile, page.digest, row.scope_hash, row.redirected, row.job, row.key_hash);
    return;
  }
  if (verdict === "removed") {
    if (before !== null) recordRemoved(context, run, { ...row, ...before, key_hash: row.key_hash }, what, now);
    return;
  }
  if (!(verdict === "new" && isFirst)) {
    const { added = 0, removed = 0, share = 1, summary = null, diff = null } = page.change ?? {};
    const change = insertChange(
      context,
      run,
      row,
      { change: verdict, what, added, removed, share, summary },
      before,
      now,
    );
    if (before !== null) keepFile(context, change, "before", before);
    keepFile(context, change, "after", { hash: row.hash!, size: row.size!, sealed: row.sealed });
    // A difference shows both sides.
    const sealed = Math.max(row.sealed, before?.sealed ?? 0);
    if (diff !== null)
      keepFile(context, change, "diff", { hash: Buffer.from(diff.hash, "hex"), size: diff.size, sealed });
  }
  const replaced = connection
    .sql("SELECT hash FROM monitor_states WHERE job = ? AND key_hash = ?")
    .get(row.job, row.key_hash) as { hash: Uint8Array } | undefined;
  if (replaced !== undefined) recordOrphanedFiles(context, [Buffer.from(replaced.hash).toString("hex")]);
  connection
    .sql(
      `INSERT INTO monitor_states (job, key_hash, url, rules, hash, size, sealed, digest, profile, run, read_at, changed_at,
         scope_hash, redirected) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (job, key_hash) DO UPDATE SET url = excluded.url, rules = excluded.rules, hash = excluded.hash,
         size = excluded.size, sealed = excluded.sealed, digest = excluded.digest, profile = excluded.profile,
         run = excluded.run, read_at = excluded.read_at, changed_at = excluded.changed_at,
         scope_hash = excluded.scope_hash, redirected = excluded.redirected`,
    )
    .run(
      row.job,
      row.key_hash,
      row.url,
      row.rules,
      row.hash,
      row.size,
      row.sealed,
      page.digest ?? row.digest ?? "",
      profile,
      run.n,
      row.read_at,
      row.read_at,
      row.scope_hash,
      row.redirected,
    );
}

interface StoredFile {
  hash: Uint8Array;
  size: number;
  sealed: number;
}

function keepFile({ connection }: Context, change: number, role: string, { hash, size, sealed }: StoredFile): void {
  connection
    .sql("INSERT INTO monitor_files (change, role, hash, size, sealed) VALUES (?, ?, ?, ?, ?)")
    .run(change, role, hash, size, sealed);
}

interface NewChange {
  change: PageChangeKind;
  what: Monitored;
  added: number;
  removed: number;
  share: number;
  summary: string | null;
}

function insertChange(
  { connection }: Context,
  run: RunRow,
  { job, key_hash, url }: Pick<PageRow, "job" | "key_hash" | "url">,
  { change, what, added, removed, share, summary }: NewChange,
  before: Pick<StateRow, "read_at"> | null,
  now: number,
): number {
  const number = connection.sql("UPDATE monitors SET changes = changes + 1 WHERE job = ? RETURNING changes").get(job);
  const row = connection
    .sql(
      `INSERT INTO monitor_changes (job, number, run, run_id, generation, key_hash, url, change, what, found_at, before_at,
         added, removed, share, summary, reported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) RETURNING n`,
    )
    .get(
      job,
      Number(number?.["changes"]),
      run.n,
      run.id,
      run.generation,
      key_hash,
      url,
      change,
      what,
      Math.round(now),
      before?.read_at ?? null,
      added,
      removed,
      share,
      summary,
    );
  return Number(row?.["n"]);
}

type RemovedPage = Pick<PageRow, "job" | "key_hash" | "url"> & StoredFile & Pick<StateRow, "read_at">;

function recordRemoved(context: Context, run: RunRow, page: RemovedPage, what: Monitored, now: number): void {
  const { connection } = context;
  const counts = { added: 0, removed: 0, share: 1, summary: null };
  const change = insertChange(context, run, page, { change: "removed", what, ...counts }, page, now);
  keepFile(context, change, "before", page);
  recordOrphanedFiles(context, [Buffer.from(page.hash).toString("hex")]);
  connection.sql("DELETE FROM monitor_states WHERE job = ? AND key_hash = ?").run(page.job, page.key_hash);
}

/** A redirect leads elsewhere from time to time: pages behind one are removed by the second run that does not reach them. */
const REDIRECTED = 1;
const MISSED_ONCE = 2;

/** Returns how many pages behind redirects this run did not reach, for the first time. */
function missOnce({ connection }: Context, run: RunRow, scope: Uint8Array, limit: number): number {
  const which = `SELECT s.job, s.key_hash FROM jobs j JOIN monitor_states s ON s.job = j.n
    WHERE j.id = ? AND s.run < ? AND s.scope_hash = ? AND s.redirected = ? LIMIT ?`;
  const list = connection.sql(which).all(run.job, run.n, scope, REDIRECTED, limit);
  for (const { job, key_hash: key } of rows<Pick<PageRow, "job" | "key_hash">>(list))
    connection
      .sql("UPDATE monitor_states SET redirected = ?, run = ? WHERE job = ? AND key_hash = ?")
      .run(MISSED_ONCE, run.n, job, key);
  return list.length;
}

export function recordUnreached(context: Context, runId: string, what: Monitored, limit: number, now: number): number {
  const { connection } = context;
  return connection.write(
    () => {
      lockMonitor(context, runId);
      const run = dueRun(context, runId);
      const facts = parseJson<RunFacts>(run?.facts ?? null, {});
      if (run === undefined || run.status !== "completed" || facts.reached_all === undefined) return 0;
      if (facts.monitor_sees_part === true) return 0;
      const scope = Buffer.from(facts.reached_all, "hex");
      const list = connection
        .sql(
          `SELECT s.job, s.key_hash, s.url, s.hash, s.size, s.sealed, s.read_at FROM jobs j JOIN monitor_states s ON s.job = j.n
           WHERE j.id = ? AND s.run < ? AND s.scope_hash = ? AND s.redirected <> ? LIMIT ?`,
        )
        .all(run.job, run.n, scope, REDIRECTED, limit);
      for (const page of rows<RemovedPage>(list)) recordRemoved(context, run, page, what, now);
      return list.length + missOnce(context, run, scope, limit - list.length);
    },
    { durable: true },
  );
}

export function dropWaitingPages(context: Context, runId: string, limit: number): number {
  return context.connection.write(() => {
    lockMonitor(context, runId);
    const run = dueRun(context, runId);
    return run === undefined ? 0 : dropWaitingOf(context, run.n, limit);
  });
}

/** Changes that an event names; the API has all of them. */
const MAX_NAMED = 10;

export function concludeMonitor(
  context: Context,
  { runId, generation }: { runId: string; generation: number },
  { deliver }: { deliver: boolean },
  now: number,
): Awaited<ReturnType<MonitorStore["concludeMonitor"]>> {
  const { connection } = context;
  return connection.write(
    () => {
      // Of two processes, or after a crash, one gets the row.
      const run = connection
        .sql(
          `UPDATE runs SET monitor_due = 0 WHERE id = ? AND generation = ? AND ${MONITOR_IS_DUE}
             AND NOT EXISTS (SELECT 1 FROM monitor_pages p WHERE p.run = runs.n)
           RETURNING n, id, job, generation, name, url, facts, status`,
        )
        .get(runId, generation) as RunRow | undefined;
      if (run === undefined) return null;
      const list = rows<{ number: number; change: PageChangeKind; url: string }>(
        connection
          .sql("UPDATE monitor_changes SET reported = 1 WHERE run = ? AND reported = 0 RETURNING number, change, url")
          .all(run.n),
      ).toSorted((a, b) => a.number - b.number);
      const counts: MonitorCounts = { new: 0, changed: 0, removed: 0 };
      for (const { change } of list) counts[change] += 1;
      const job = connection.sql("SELECT n, name FROM jobs WHERE id = ?").get(run.job) as
        | { n: number; name: string | null }
        | undefined;
      if (job === undefined) return { counts, alert: null };
      mergeFacts(context, run.n, { monitor: counts });
      if (list.length === 0) return { counts, alert: null };
      return { counts, alert: report(context, run, job.name, counts, list, deliver, now) };
    },
    { durable: true },
  );
}

function report(
  context: Context,
  run: RunRow,
  name: string | null,
  counts: MonitorCounts,
  list: readonly { number: number; change: PageChangeKind; url: string }[],
  deliver: boolean,
  now: number,
): AlertRecord | null {
  const words = describeChanges(counts);
  // Contents of pages stay in the store: events and alerts leave it.
  const named = list.slice(0, MAX_NAMED).map(({ number, change, url }) => ({ number, change, url: shownUrl(url) }));
  const meta = { job_id: run.job, ...counts, changes: named };
  appendEvent(
    context,
    run.n,
    { type: "monitor.changed", level: "info", message: `Pages changed: ${words}`, meta },
    now,
  );
  const alert: NewAlert = {
    kind: "monitor_changed",
    subject: run.job,
    message: `Pages changed: ${name ?? (run.url === null ? run.job : shownUrl(run.url))}: ${words}`,
    detail: { event_type: "monitor.changed", run_id: run.id, name, ...meta },
    key: `monitor_changed:${run.id}:${list[0]!.number}`,
  };
  return insertAlerts(context, [alert], { deliver }, now)[0] ?? null;
}
