/** Proxies, their health, and the runs that check them. */
import { logChange } from "../kernel/audit-entry.ts";
import { OrbError } from "../../../base/errors.ts";
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import type { CheckedProxies } from "../../../domain/proxy/proxy-refresh.ts";
import { FIRST_SCORE, type ProxyState } from "../../../domain/proxy/proxy-score.ts";
import { TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import type { UpstreamScheme } from "../../../domain/proxy/upstream.ts";
import type { NewRun, NewTask } from "../../ports/port.ts";
import type { NewProxy, ProxyRecord, ProxyStore } from "../../ports/proxy-port.ts";
import { type Context, positionOf, rows } from "../kernel/context.ts";
import { insertRunWithTasks } from "../tasks/enqueue.ts";
import { countProxies, proxiesToCheck } from "./proxy-counts.ts";
import { markChanged, nextChange, noteProxies, readProxySites } from "./proxy-notes.ts";
import { readRun } from "../runs/runs.ts";

export function proxyStore(context: Context): ProxyStore {
  return {
    addProxies: async (proxies, now) => addProxies(context, proxies, now),
    proxy: async (id) => readProxy(context, id),
    proxies: async (filter) => readProxies(context, filter),
    changedProxies: async (since, limit) => readChanged(context, since, limit),
    proxySites: async (site) => readProxySites(context, site),
    countProxies: async () => countProxies(context),
    noteProxies: async (seen, now) => noteProxies(context, seen, now),
    setProxyDisabled: async (id, disabled) => setDisabled(context, id, disabled),
    deleteProxy: async (id) => deleteProxy(context, id),
    proxyVersion: async () => readVersion(context),
    startRefresh: async (run, tasks, now) => startRefresh(context, run, tasks, now),
    lastRefresh: async (which) => lastRefresh(context, which),
    proxiesToCheck: async (which, now) => proxiesToCheck(context, which, now),
  };
}

interface ProxyRow {
  n: number;
  scheme: UpstreamScheme;
  hostname: string;
  port: number;
  sealed: Uint8Array | null;
  disabled: number;
  state: ProxyState;
  score: number;
  latency_ms: number | null;
  successes: number;
  failures: number;
  blocks: number;
  rest_until: number;
  rest_step: number;
  last_error: string | null;
  checked_at: number | null;
  used_at: number | null;
  created_at: number;
  changed: number;
}

function toRecord({ instance }: Context, row: ProxyRow): ProxyRecord {
  return {
    id: encodeId(instance, "proxy", row.n),
    scheme: row.scheme,
    hostname: row.hostname,
    port: row.port,
    sealed: row.sealed,
    // Its state is kept while it is disabled.
    state: row.disabled === 1 ? "disabled" : row.state,
    score: row.score,
    latencyMs: row.latency_ms,
    successes: row.successes,
    failures: row.failures,
    blocks: row.blocks,
    restUntil: row.rest_until,
    restStep: row.rest_step,
    lastError: row.last_error,
    checkedAt: row.checked_at,
    usedAt: row.used_at,
    createdAt: row.created_at,
  };
}

function readVersion({ connection }: Context): { changed: number; removed: number } {
  const sql = "SELECT proxies AS changed, proxies_removed AS removed FROM control";
  return connection.sql(sql).get() as { changed: number; removed: number };
}

/** Inserts per transaction. */
const INSERT_BATCH = 1000;

function addProxies(context: Context, proxies: readonly NewProxy[], now: number): { added: number; existing: number } {
  let added = 0;
  for (let from = 0; from < proxies.length; from += INSERT_BATCH) {
    const part = proxies.slice(from, from + INSERT_BATCH);
    added += context.connection.write(
      () => {
        const inPart = addPart(context, part, now);
        logChange(context, "proxies.added", { kind: "proxy", id: null }, { after: { added: inPart, of: part.length } });
        return inPart;
      },
      { durable: true },
    );
  }
  return { added, existing: proxies.length - added };
}

// Sealed bytes differ each time: only the hash shows whether the password changed.
const RENEW = `UPDATE proxies SET sealed = ?1, password_hash = ?2, state = 'unchecked', rest_until = 0, rest_step = 0,
  last_error = NULL WHERE scheme = ?3 AND hostname = ?4 AND port = ?5 AND user_hash = ?6 AND password_hash <> ?2 RETURNING n`;

function addPart(context: Context, proxies: readonly NewProxy[], now: number): number {
  const { connection } = context;
  let added = 0;
  for (const { scheme, hostname, port, sealed, userHash, passwordHash } of proxies) {
    const created = connection
      .sql(
        `INSERT INTO proxies (scheme, hostname, port, user_hash, password_hash, sealed, score, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING n`,
      )
      .get(scheme, hostname, port, userHash, passwordHash, sealed, FIRST_SCORE, now) as { n: number } | undefined;
    if (created !== undefined) added += 1;
    const renewed =
      created ?? (connection.sql(RENEW).get(sealed, passwordHash, scheme, hostname, port, userHash) as typeof created);
    if (renewed !== undefined) markChanged(context, renewed.n);
  }
  return added;
}

function proxyRow({ connection, instance }: Context, id: string): ProxyRow | undefined {
  const n = decodeId(instance, "proxy", id);
  return connection.sql("SELECT * FROM proxies WHERE n = ?").get(n) as ProxyRow | undefined;
}

function requireProxy(context: Context, id: string): ProxyRow {
  const row = proxyRow(context, id);
  if (row === undefined) throw new OrbError("not_found", `there is no proxy with the id ${id}`);
  return row;
}

function readProxy(context: Context, id: string): ProxyRecord | null {
  const row = proxyRow(context, id);
  return row === undefined ? null : toRecord(context, row);
}

function readProxies(context: Context, filter: { state?: ProxyState; after?: string; limit: number }): ProxyRecord[] {
  const before = positionOf(context, "proxy", filter.after);
  const { state } = filter;
  // Without unused conditions, so that an index applies.
  const which = state === undefined ? "" : state === "disabled" ? "AND disabled = 1" : "AND disabled = 0 AND state = ?";
  const list = context.connection
    .sql(`SELECT * FROM proxies WHERE n < ? ${which} ORDER BY n DESC LIMIT ?`)
    .all(before, ...(state === undefined || state === "disabled" ? [] : [state]), filter.limit);
  return rows<ProxyRow>(list).map((row) => toRecord(context, row));
}

function readChanged(context: Context, since: number, limit: number): { proxies: ProxyRecord[]; next: number } {
  const list = rows<ProxyRow>(
    context.connection.sql("SELECT * FROM proxies WHERE changed > ? ORDER BY changed LIMIT ?").all(since, limit),
  );
  return { proxies: list.map((row) => toRecord(context, row)), next: list.at(-1)?.changed ?? since };
}

function setDisabled(context: Context, id: string, disabled: boolean): ProxyRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const { n } = requireProxy(context, id);
      connection.sql("UPDATE proxies SET disabled = ? WHERE n = ?").run(disabled ? 1 : 0, n);
      markChanged(context, n);
      logChange(context, disabled ? "proxy.disabled" : "proxy.enabled", { kind: "proxy", id });
      return toRecord(context, requireProxy(context, id));
    },
    { durable: true },
  );
}

function deleteProxy(context: Context, id: string): void {
  const { connection } = context;
  connection.write(
    () => {
      const { n } = requireProxy(context, id);
      connection.sql("DELETE FROM proxy_sites WHERE proxy = ?").run(n);
      connection.sql("DELETE FROM proxies WHERE n = ?").run(n);
      logChange(context, "proxy.deleted", { kind: "proxy", id });
      connection.sql("UPDATE control SET proxies_removed = ?").run(nextChange(context));
    },
    { durable: true },
  );
}

/** Worded like the partial index, so that it applies. */
const REFRESHES = "FROM runs WHERE kind = 'proxy_refresh' AND removing_at IS NULL";

function lastRefresh(context: Context, which?: readonly CheckedProxies[]): ReturnType<typeof readRun> {
  const among = which === undefined ? "" : "AND json_extract(snapshot, '$.which') IN (SELECT value FROM json_each(?))";
  const row = context.connection
    .sql(`SELECT id ${REFRESHES} ${among} ORDER BY n DESC LIMIT 1`)
    .get(...(which === undefined ? [] : [JSON.stringify(which)])) as { id: string } | undefined;
  return row === undefined ? null : readRun(context, row.id);
}

function startRefresh(
  context: Context,
  run: NewRun,
  tasks: readonly NewTask[],
  now: number,
): Awaited<ReturnType<ProxyStore["startRefresh"]>> {
  return context.connection.write(
    () => {
      const last = lastRefresh(context);
      if (last !== null && !TERMINAL_RUN_STATES.includes(last.status)) return { run: last, started: false, lanes: [] };
      const { created, lanes } = insertRunWithTasks(context, run, tasks, now);
      return { run: created, started: true, lanes };
    },
    { durable: true },
  );
}
