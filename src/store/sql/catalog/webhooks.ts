/** Webhook calls of runs: written in the transaction of their event, and delivered from there in order. */
import { hash } from "node:crypto";
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import { withoutSessionIds } from "../../../domain/page/session-ids.ts";
import type { RunState } from "../../../domain/run/states.ts";
import { pageKey } from "../../../domain/text/url.ts";
import type { WebhookEvent } from "../../../domain/run/webhooks.ts";
import type { ClaimedTask, NewRun } from "../../ports/port.ts";
import type { DueWebhook, ReusablePage, WebhookStore } from "../../ports/webhook-port.ts";
import type { ForEach, Value } from "../kernel/connection.ts";
import { appendEvent, type Context, parseJson, rows, toJson } from "../kernel/context.ts";
import { lockRuns } from "../kernel/lock-runs.ts";

/** The run's column; NULL for nearly all runs. */
interface CompletionHooks {
  events?: readonly WebhookEvent[];
  reuse?: string;
}

export function completionHooksOf({ webhook, reuse }: NewRun): string | null {
  const hooks: CompletionHooks = {
    ...(webhook === undefined ? {} : { events: webhook.events }),
    ...(reuse === undefined ? {} : { reuse }),
  };
  return Object.keys(hooks).length === 0 ? null : toJson(hooks);
}

/** Within the transaction that creates the run. */
export function addWebhook(context: Context, run: number, { webhook }: NewRun, now: number): void {
  if (webhook === undefined) return;
  context.connection.sql("INSERT INTO webhooks (run, sealed) VALUES (?, ?)").run(run, webhook.sealed);
  if (webhook.events.includes("started")) writeCalls(context, [[run, "started", null, now]], now);
}

const INSERT_CALL: ForEach = {
  text: `INSERT INTO webhook_calls (run, event, task, created_at)
    SELECT new.run, new.event, new.task, new.created_at FROM new ORDER BY new.row_index`,
  columns: { run: "bigint", event: "text", task: "bigint", created_at: "bigint" },
};

function writeCalls({ connection }: Context, calls: readonly Value[][], now: number): void {
  connection.dialect.each(connection, INSERT_CALL, calls);
  for (const run of new Set(calls.map(([number]) => number as number)))
    connection.sql("UPDATE webhooks SET next_try_at = coalesce(next_try_at, ?) WHERE run = ?").run(now, run);
}

const END_EVENTS: Partial<Record<RunState, WebhookEvent>> = {
  completed: "completed",
  partial: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

export function recordRunEnd(context: Context, run: number, hooks: string | null, to: RunState, now: number): void {
  const event = END_EVENTS[to];
  const { events = [] } = parseJson<CompletionHooks>(hooks, {});
  if (event !== undefined && events.includes(event)) writeCalls(context, [[run, event, null, now]], now);
}

const INSERT_REUSABLE: ForEach = {
  text: `INSERT INTO reusable_pages (key, run, task, fetched_at) SELECT new.key, new.run, new.task, new.fetched_at FROM new WHERE true
    ON CONFLICT (key) DO UPDATE SET run = excluded.run, task = excluded.task, fetched_at = excluded.fetched_at`,
  columns: { key: "bytea", run: "bigint", task: "bigint", fetched_at: "bigint" },
};

const reuseKey = (mark: string, url: string) =>
  hash("sha256", `${mark}\0${pageKey({ url: withoutSessionIds(url) })}`, "buffer").subarray(0, 16) as Uint8Array;

/** Page ends of one transaction; runs without hooks collect nothing. */
export class PageCompletions {
  readonly #context: Context;
  readonly #now: number;
  readonly #calls: Value[][] = [];
  readonly #reusable = new Map<string, Value[]>();

  constructor(context: Context, now: number) {
    this.#context = context;
    this.#now = now;
  }

  ended(hooks: string | null, run: number, task: ClaimedTask, output: { records: number } | null): void {
    if (hooks === null || task.auxiliary) return;
    const { events = [], reuse } = parseJson<CompletionHooks>(hooks, {});
    if (events.includes("page")) this.#calls.push([run, "page", task.row, this.#now]);
    if (reuse === undefined || output === null || output.records === 0 || task.url === null) return;
    const key = reuseKey(reuse, task.url);
    this.#reusable.set(Buffer.from(key).toString("hex"), [key, run, task.row, this.#now]);
  }

  write(): void {
    const { connection } = this.#context;
    if (this.#calls.length > 0) writeCalls(this.#context, this.#calls, this.#now);
    if (this.#reusable.size > 0)
      connection.dialect.each(
        connection,
        INSERT_REUSABLE,
        [...this.#reusable].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
      );
  }
}

export function webhookStore(context: Context): WebhookStore {
  return {
    takeDueWebhook: async (options, now) => takeDue(context, options, now),
    webhookTried: async (due, outcome, now) => tried(context, due, outcome, now),
    reusablePage: async (mark, url, notBefore) => readReusable(context, mark, url, notBefore),
  };
}

export const WEBHOOK_IS_DUE = (now: string) => `next_try_at IS NOT NULL AND next_try_at <= ${now}`;

interface CallRow {
  n: number;
  event: WebhookEvent;
  task: number | null;
  created_at: number;
}

function takeDue(
  context: Context,
  { most: maxCalls, until }: Parameters<WebhookStore["takeDueWebhook"]>[0],
  now: number,
): DueWebhook | null {
  const { connection, instance } = context;
  const find = `SELECT w.run, w.sealed, w.tries, w.next_try_at, r.id FROM webhooks w JOIN runs r ON r.n = w.run
    WHERE ${WEBHOOK_IS_DUE("?")} AND r.removing_at IS NULL ORDER BY next_try_at LIMIT 1`;
  // Usually none is due, and then nothing is written.
  if (connection.sql(find).get(now) === undefined) return null;
  return connection.write(() => {
    const due = connection.sql(find).get(now) as
      | { run: number; sealed: Uint8Array; tries: number; id: string; next_try_at: number }
      | undefined;
    if (due === undefined) return null;
    // Another process may have taken it in between.
    const take = connection.sql("UPDATE webhooks SET next_try_at = ? WHERE run = ? AND next_try_at = ?");
    if (take.run(until, due.run, due.next_try_at).changes !== 1) return null;
    const list = rows<CallRow>(
      connection
        .sql("SELECT n, event, task, created_at FROM webhook_calls WHERE run = ? ORDER BY n LIMIT ?")
        .all(due.run, due.tries > 0 ? 1 : maxCalls),
    );
    // Keeps the order: `started`, pages, end.
    const other = list.findIndex(({ event }) => event !== "page");
    const calls = other < 0 ? list : list.slice(0, Math.max(1, other));
    return {
      runId: due.id,
      sealed: due.sealed,
      tries: due.tries,
      until,
      calls: calls.map(({ n, event, task, created_at }) => ({
        id: encodeId(instance, "call", n),
        event,
        taskId: task === null ? null : encodeId(instance, "task", task),
        createdAt: created_at,
      })),
    };
  });
}

function tried(
  context: Context,
  { runId, until }: Parameters<WebhookStore["webhookTried"]>[0],
  { delivered, failed }: Parameters<WebhookStore["webhookTried"]>[1],
  now: number,
): void {
  const { connection, instance } = context;
  connection.write(() => {
    lockRuns(context, [runId]);
    const find = "SELECT r.n, r.finished_at, w.next_try_at FROM runs r JOIN webhooks w ON w.run = r.n WHERE r.id = ?";
    const row = connection.sql(find).get(runId) as
      | { n: number; finished_at: number | null; next_try_at: number | null }
      | undefined;
    if (row === undefined) return;
    const { n: run } = row;
    const numbers = delivered.map((id) => decodeId(instance, "call", id)).filter((number) => number !== null);
    for (const number of numbers) connection.sql("DELETE FROM webhook_calls WHERE n = ? AND run = ?").run(number, run);
    if (row.next_try_at !== until) return undefined;
    if (failed !== undefined && failed.nextTryAt === null)
      return giveUp(context, run, row.finished_at, failed.error, now);
    const more = connection.sql("SELECT 1 FROM webhook_calls WHERE run = ? LIMIT 1").get(run) !== undefined;
    const next = failed === undefined ? (more ? now : null) : failed.nextTryAt;
    connection
      .sql(
        `UPDATE webhooks SET next_try_at = ?1, last_error = ?2, tries = CASE WHEN CAST(?2 AS TEXT) IS NULL THEN 0
           WHEN ?3 > 0 THEN 1 ELSE tries + 1 END WHERE run = ?4`,
      )
      .run(next, failed?.error ?? null, numbers.length, run);
    return undefined;
  });
}

/** Stops delivery; pending calls are removed with the run. */
function giveUp(context: Context, run: number, endedAt: number | null, error: string, now: number): void {
  const { connection } = context;
  connection
    .sql("UPDATE webhooks SET next_try_at = NULL, tries = tries + 1, last_error = ? WHERE run = ?")
    .run(error, run);
  connection.sql("UPDATE runs SET completion_hooks = json_remove(completion_hooks, '$.events') WHERE n = ?").run(run);
  // An ended run gets no more events.
  if (endedAt === null)
    appendEvent(
      context,
      run,
      { type: "webhook.failed", level: "warn", message: `Webhook given up: ${error}`, meta: { error } },
      now,
    );
}

function readReusable(context: Context, mark: string, url: string, notBefore: number): ReusablePage | null {
  const { connection, instance } = context;
  const row = connection
    .sql(
      `SELECT p.task, p.fetched_at, r.id FROM reusable_pages p JOIN runs r ON r.n = p.run
       WHERE p.key = ? AND p.fetched_at >= ? AND r.removing_at IS NULL`,
    )
    .get(reuseKey(mark, url), notBefore) as { task: number; fetched_at: number; id: string } | undefined;
  if (row === undefined) return null;
  return { runId: row.id, taskId: encodeId(instance, "task", row.task), fetchedAt: row.fetched_at };
}
