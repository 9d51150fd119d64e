import { OrbError } from "../../../base/errors.ts";
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import type { AlertKind } from "../../../domain/run/alerts.ts";
import type { AlertRecord, AlertStore, FoundEvent, NewAlert } from "../../ports/alert-port.ts";
import { EVENT_TYPE } from "../runs/event-type-of-message.ts";
import { planAlerts, planNotices } from "../notify/plan.ts";
import { badPosition, type Context, parseJson, positionOf, rows, toJson } from "../kernel/context.ts";

interface AlertRow {
  n: number;
  key: string;
  kind: AlertKind;
  subject: string;
  message: string;
  detail: string | null;
  delivery: AlertRecord["delivery"];
  tries: number;
  next_try_at: number | null;
  last_error: string | null;
  created_at: number;
  delivered_at: number | null;
}

const MAX_KEPT = 10_000;
/** More than ever arrive at once; a backlog shrinks with the next ones. */
const DROP_BATCH = 500;

export function alertStore(context: Context): AlertStore {
  return {
    raiseAlerts: async (alerts, options, now) => raiseAlerts(context, alerts, options, now),
    alertOver: async (key) => alertOver(context, key),
    alertCursor: async () => readCursor(context),
    findEvents: async (options) => findEvents(context, options),
    takeDueAlerts: async (options, now) => takeDueAlerts(context, options, now),
    alertTried: async (alert, outcome, now) => alertTried(context, alert, outcome, now),
    alerts: async (filter) => readAlerts(context, filter),
    countAlerts: async () => countAlerts(context),
  };
}

function toRecord({ instance }: Context, row: AlertRow): AlertRecord {
  return {
    id: encodeId(instance, "alert", row.n),
    key: row.key,
    kind: row.kind,
    subject: row.subject,
    message: row.message,
    detail: parseJson<unknown>(row.detail, null),
    createdAt: row.created_at,
    delivery: row.delivery,
    tries: row.tries,
    nextTryAt: row.next_try_at,
    lastError: row.last_error,
    deliveredAt: row.delivered_at,
  };
}

function raiseAlerts(
  context: Context,
  alerts: readonly NewAlert[],
  options: Parameters<AlertStore["raiseAlerts"]>[1],
  now: number,
): AlertRecord[] {
  const { connection, instance } = context;
  return connection.write(
    () => {
      const raised = insertAlerts(context, alerts, options, now);
      planNotices(context, options.notices ?? [], now);
      if (options.feed !== undefined) {
        const seen = decodeId(instance, "event", options.feed);
        if (seen === null) throw badPosition(options.feed, "an event");
        // Of two processes that scan the feed, the slower one does not move the cursor back. The value is text, which
        // earlier versions wrote with a fraction ("39.0").
        connection
          .sql("UPDATE meta SET value = ?1 WHERE name = 'alerts_seen' AND CAST(value AS DOUBLE PRECISION) < ?2")
          .run(String(seen), seen);
      }
      return raised;
    },
    { durable: true },
  );
}

/** The new ones among these. Within the caller's transaction. */
export function insertAlerts(
  context: Context,
  alerts: readonly NewAlert[],
  { deliver, firstTryAt }: { deliver: boolean; firstTryAt?: number },
  now: number,
): AlertRecord[] {
  const raised: AlertRecord[] = [];
  for (const { key, kind, subject, message, detail } of alerts) {
    const row = context.connection
      .sql(
        `INSERT INTO alerts (key, kind, subject, message, detail, delivery, next_try_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING *`,
      )
      .get(
        key,
        kind,
        subject,
        message,
        toJson(detail),
        deliver ? "waiting" : "off",
        deliver ? (firstTryAt ?? now) : null,
        now,
      ) as unknown as AlertRow | undefined;
    if (row !== undefined) raised.push(toRecord(context, row));
  }
  if (raised.length > 0) dropOldest(context);
  planAlerts(context, raised, now);
  return raised;
}

function alertOver({ connection }: Context, key: string): void {
  if (connection.sql("SELECT 1 FROM alerts WHERE key = ?").get(key) === undefined) return;
  connection.write(() => connection.sql("UPDATE alerts SET key = key || ':' || n WHERE key = ?").run(key));
}

function dropOldest({ connection }: Context): void {
  connection
    .sql(
      `DELETE FROM alerts WHERE n IN (SELECT n FROM alerts
         WHERE n <= (SELECT max(n) FROM alerts) - ${MAX_KEPT} AND delivery <> 'waiting' ORDER BY n LIMIT ${DROP_BATCH})`,
    )
    .run();
}

function readCursor({ connection, instance }: Context): string {
  const row = connection.sql("SELECT value FROM meta WHERE name = 'alerts_seen'").get() as { value: string };
  return encodeId(instance, "event", Number(row.value));
}

function findEvents(
  { connection, instance }: Context,
  { after, types, look }: Parameters<AlertStore["findEvents"]>[0],
): Awaited<ReturnType<AlertStore["findEvents"]>> {
  const from = decodeId(instance, "event", after);
  if (from === null) throw badPosition(after, "an event");
  const { newest } = connection.sql("SELECT coalesce(max(n), 0) AS newest FROM events").get() as { newest: number };
  const last = Math.max(from, Math.min(newest, from + look));
  interface FoundRow extends Pick<FoundEvent, "type" | "level" | "message"> {
    n: number;
    run_id: string;
    is_part: number;
    meta: string | null;
    created_at: number;
  }
  const list = rows<FoundRow>(
    connection
      .sql(
        `SELECT e.n, ${EVENT_TYPE} AS type, e.level, e.message, e.meta, e.created_at, r.id AS run_id, r.parent_task IS NOT NULL AS is_part
         FROM events e JOIN runs r ON r.n = e.run
         WHERE e.n > ? AND e.n <= ? AND (e.level <> 'info' OR e.terminal = 1) AND r.removing_at IS NULL
           AND ${EVENT_TYPE} IN (SELECT value FROM json_each(?))
         ORDER BY e.n`,
      )
      .all(from, last, JSON.stringify(types)),
  );
  const encode = (row: number) => encodeId(instance, "event", row);
  return {
    found: list.map((row) => ({
      id: encode(row.n),
      runId: row.run_id,
      isPart: row.is_part === 1,
      type: row.type,
      level: row.level,
      message: row.message,
      meta: parseJson<unknown>(row.meta, {}),
      createdAt: row.created_at,
    })),
    last: encode(last),
    more: last < newest,
  };
}

export const ALERT_IS_DUE = (now: string) => `delivery = 'waiting' AND next_try_at <= ${now}`;
const IS_DUE = ALERT_IS_DUE("?");

function takeDueAlerts(
  context: Context,
  { limit, until }: Parameters<AlertStore["takeDueAlerts"]>[0],
  now: number,
): AlertRecord[] {
  const { connection } = context;
  // Usually none is due, and then nothing is written.
  if (connection.sql(`SELECT 1 FROM alerts WHERE ${IS_DUE} LIMIT 1`).get(now) === undefined) return [];
  return connection.write(() => {
    const due = rows<AlertRow>(
      connection
        .sql(
          `SELECT * FROM alerts WHERE ${IS_DUE} ORDER BY kind = 'run_failed', next_try_at, n LIMIT ? ${connection.dialect.unlessLocked}`,
        )
        .all(now, limit),
    );
    for (const { n } of due) connection.sql("UPDATE alerts SET next_try_at = ? WHERE n = ?").run(until, n);
    return due.map((row) => toRecord(context, { ...row, next_try_at: until }));
  });
}

function alertTried(
  context: Context,
  { id, tries }: Parameters<AlertStore["alertTried"]>[0],
  outcome: Parameters<AlertStore["alertTried"]>[1],
  now: number,
): AlertRecord {
  const { connection, instance } = context;
  return connection.write(() => {
    const n = decodeId(instance, "alert", id);
    if (n !== null && "delivered" in outcome)
      connection
        .sql(
          `UPDATE alerts SET delivery = 'delivered', tries = tries + 1, next_try_at = NULL, last_error = NULL, delivered_at = ?
           WHERE n = ? AND delivery = 'waiting'`,
        )
        .run(now, n);
    else if (n !== null && "error" in outcome)
      connection
        .sql(
          `UPDATE alerts SET delivery = CASE WHEN CAST(?1 AS BIGINT) IS NULL THEN 'given_up' ELSE 'waiting' END, tries = tries + 1, next_try_at = ?1,
             last_error = ?2 WHERE n = ?3 AND delivery = 'waiting' AND tries = ?4`,
        )
        .run(outcome.nextTryAt, outcome.error, n, tries);
    const row = n === null ? undefined : connection.sql("SELECT * FROM alerts WHERE n = ?").get(n);
    if (row === undefined) throw new OrbError("not_found", `there is no alert with the id ${id}`);
    return toRecord(context, row as unknown as AlertRow);
  });
}

function readAlerts(context: Context, filter: Parameters<AlertStore["alerts"]>[0]): AlertRecord[] {
  const before = positionOf(context, "alert", filter.after);
  const { connection } = context;
  const list =
    filter.kind === undefined
      ? connection.sql("SELECT * FROM alerts WHERE n < ? ORDER BY n DESC LIMIT ?").all(before, filter.limit)
      : connection
          .sql("SELECT * FROM alerts WHERE kind = ? AND n < ? ORDER BY n DESC LIMIT ?")
          .all(filter.kind, before, filter.limit);
  return rows<AlertRow>(list).map((row) => toRecord(context, row));
}

function countAlerts({ connection }: Context): Awaited<ReturnType<AlertStore["countAlerts"]>> {
  return rows(connection.sql("SELECT kind, delivery, count(*) AS count FROM alerts GROUP BY kind, delivery").all());
}
