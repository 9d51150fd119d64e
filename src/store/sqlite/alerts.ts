/** The verbs about alerts, on SQLite. */
import { OrbError } from "../../base/errors.ts";
import { decodeId, encodeId } from "../../domain/ids.ts";
import type { AlertKind } from "../../domain/alerts.ts";
import type { AlertRecord, AlertVerbs, NewAlert } from "../alert-port.ts";
import { badPosition, type Context, parseJson, positionOf, rows, toJson } from "./context.ts";

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

const KEPT = 10_000;
/** More than ever come at once; a backlog goes with the next ones. */
const DROPPED_AT_ONCE = 500;

export function alertVerbs(context: Context): AlertVerbs {
  return {
    raiseAlerts: async (alerts, options, now) => raiseAlerts(context, alerts, options, now),
    alertOver: async (key) => alertOver(context, key),
    alertCursor: async () => readCursor(context),
    dueAlerts: async (now, limit) => dueAlerts(context, now, limit),
    alertTried: async (id, outcome, now) => alertTried(context, id, outcome, now),
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
  options: Parameters<AlertVerbs["raiseAlerts"]>[1],
  now: number,
): AlertRecord[] {
  const { connection, instance } = context;
  return connection.write(
    () => {
      const raised: AlertRecord[] = [];
      for (const { key, kind, subject, message, detail } of alerts) {
        const row = connection
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
            options.deliver ? "waiting" : "off",
            options.deliver ? (options.firstTryAt ?? now) : null,
            now,
          ) as unknown as AlertRow | undefined;
        if (row !== undefined) raised.push(toRecord(context, row));
      }
      if (raised.length > 0) dropOldest(context);
      if (options.feed !== undefined) {
        const seen = decodeId(instance, "event", options.feed);
        if (seen === null) throw badPosition(options.feed, "an event");
        // Of two who look through the feed at the same time, the slower one does not send the other back.
        connection
          .sql("UPDATE meta SET value = ?1 WHERE name = 'alerts_seen' AND CAST(value AS INTEGER) < ?1")
          .run(seen);
      }
      return raised;
    },
    { durable: true },
  );
}

function alertOver({ connection }: Context, key: string): void {
  if (connection.sql("SELECT 1 FROM alerts WHERE key = ?").get(key) === undefined) return;
  connection.write(() => connection.sql("UPDATE alerts SET key = key || ':' || n WHERE key = ?").run(key));
}

function dropOldest({ connection }: Context): void {
  connection
    .sql(
      `DELETE FROM alerts WHERE n IN (SELECT n FROM alerts
         WHERE n <= (SELECT max(n) FROM alerts) - ${KEPT} AND delivery <> 'waiting' ORDER BY n LIMIT ${DROPPED_AT_ONCE})`,
    )
    .run();
}

function readCursor({ connection, instance }: Context): string {
  const row = connection.sql("SELECT value FROM meta WHERE name = 'alerts_seen'").get() as { value: string };
  return encodeId(instance, "event", Number(row.value));
}

function dueAlerts(context: Context, now: number, limit: number): AlertRecord[] {
  const list = context.connection
    .sql("SELECT * FROM alerts WHERE delivery = 'waiting' AND next_try_at <= ? ORDER BY next_try_at, n LIMIT ?")
    .all(now, limit);
  return rows<AlertRow>(list).map((row) => toRecord(context, row));
}

function alertTried(
  context: Context,
  id: string,
  outcome: Parameters<AlertVerbs["alertTried"]>[1],
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
          `UPDATE alerts SET delivery = iif(?1 IS NULL, 'given_up', 'waiting'), tries = tries + 1, next_try_at = ?1,
             last_error = ?2 WHERE n = ?3 AND delivery = 'waiting'`,
        )
        .run(outcome.nextTryAt, outcome.error, n);
    const row = n === null ? undefined : connection.sql("SELECT * FROM alerts WHERE n = ?").get(n);
    if (row === undefined) throw new OrbError("not_found", `there is no alert with the id ${id}`);
    return toRecord(context, row as unknown as AlertRow);
  });
}

function readAlerts(context: Context, filter: Parameters<AlertVerbs["alerts"]>[0]): AlertRecord[] {
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

function countAlerts({ connection }: Context): Awaited<ReturnType<AlertVerbs["countAlerts"]>> {
  return rows(connection.sql("SELECT kind, delivery, count(*) AS count FROM alerts GROUP BY kind, delivery").all());
}
