import { randomUUID } from "node:crypto";
import { isoOf } from "../../../base/iso.ts";
import { notBefore, type QuietHours } from "../../../domain/notify/quiet-hours.ts";
import type { Notice } from "../../../domain/notify/message.ts";
import type { DeliveryState, NotificationType } from "../../../domain/notify/types.ts";
import { encodeId } from "../../../domain/run/ids.ts";
import type { NewAlert } from "../../ports/alert-port.ts";
import type { DeliveryRecord, DueMessage, NotifyStore } from "../../ports/notify/notify-port.ts";
import { insertAlerts } from "../catalog/alerts.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { type Context, parseJson, positionOf, rows } from "../kernel/context.ts";
import {
  lockChannel,
  channelRecord,
  type ChannelRow,
  createChannel,
  deleteChannel,
  GIVE_UP_WAITING,
  readChannel,
  readChannels,
  requireChannel,
  updateChannel,
} from "./channels.ts";

export function notifyStore(context: Context): NotifyStore {
  return {
    createChannel: async (channel, now, once) => createChannel(context, channel, now, once),
    channel: async (id) => readChannel(context, id),
    channels: async () => readChannels(context),
    updateChannel: async (id, change, now) => updateChannel(context, id, change, now),
    deleteChannel: async (id) => deleteChannel(context, id),
    takeDueMessage: async (until, now) => takeDueMessage(context, until, now),
    startTest: async (id, until, now) => startTest(context, id, until, now),
    messageTried: async (message, outcome, options, now) => messageTried(context, message, outcome, options, now),
    deliveries: async (filter) => readDeliveries(context, filter),
  };
}

export const MESSAGE_IS_DUE = (now: string) => `state = 'waiting' AND next_try_at <= ${now}`;

/** Notifications in one message. */
const MAX_GROUPED = 100;
/** More that are due at the same moment become one message, so that a flood is one. */
const FLOOD = 5;

interface DeliveryRow {
  n: number;
  channel: number;
  notice: number;
  batch: number | null;
  state: DeliveryState;
  tries: number;
  next_try_at: number | null;
  held: number;
  last_error: string | null;
  created_at: number;
  delivered_at: number | null;
}

function takeDueMessage(context: Context, until: number, now: number): DueMessage | null {
  const { connection } = context;
  const find = connection.sql(
    `SELECT n, channel FROM notification_deliveries WHERE ${MESSAGE_IS_DUE("?")} ORDER BY next_try_at, n LIMIT 1`,
  );
  // Usually none is due, and then nothing is written.
  while (find.get(now) !== undefined) {
    const taken = connection.write(() => {
      const due = find.get(now) as { n: number; channel: number } | undefined;
      if (due === undefined) return null;
      // Locks the channel: another process must not form a second message at the same time.
      const channel = connection
        .sql("UPDATE notification_channels SET open_at = open_at WHERE n = ? RETURNING *")
        .get(due.channel) as ChannelRow | undefined;
      if (channel === undefined) return dropOrphans(context, due.channel);
      return takeOf(context, channel, until, now);
    });
    if (taken !== "nothing") return taken;
  }
  return null;
}

/** Its channel was deleted while it was written. */
function dropOrphans({ connection }: Context, channel: number): "nothing" {
  connection.sql("DELETE FROM notification_deliveries WHERE channel = ?").run(channel);
  return "nothing";
}

function takeOf(context: Context, channel: ChannelRow, until: number, now: number): DueMessage | "nothing" {
  const { connection } = context;
  if (channel.enabled === 0) return giveUpDisabled(context, channel.n);
  const due = rows<DeliveryRow & { type: NotificationType }>(
    connection
      .sql(
        `SELECT d.*, o.type FROM notification_deliveries d JOIN notices o ON o.n = d.notice
         WHERE d.channel = ? AND ${MESSAGE_IS_DUE("?")} ORDER BY d.next_try_at, d.n LIMIT ${MAX_GROUPED}`,
      )
      .all(channel.n, now),
  );
  const ready = holdInQuietHours(context, channel, withoutTests(context, due), now);
  const [first] = ready;
  if (first === undefined) return "nothing";
  // A message that was tried keeps its notifications, and so its id.
  if (first.batch !== null) return leased(context, channel, first.batch, until);
  if ((channel.open_at ?? 0) > now) {
    connection
      .sql(
        "UPDATE notification_deliveries SET next_try_at = ? WHERE channel = ? AND batch IS NULL AND state = 'waiting' AND next_try_at <= ?",
      )
      .run(channel.open_at, channel.n, now);
    return "nothing";
  }
  const unsent = ready.filter(({ batch }) => batch === null);
  const isGroup = channel.group_ms > 0 || unsent.length > FLOOD || unsent.some(({ held }) => held === 1);
  const list = isGroup ? unsent : [first];
  const batch = Math.min(...list.map(({ n }) => n));
  for (const { n } of list) connection.sql("UPDATE notification_deliveries SET batch = ? WHERE n = ?").run(batch, n);
  // While more are due, they follow at once, in messages of this size.
  if (channel.group_ms > 0 && due.length < MAX_GROUPED)
    connection.sql("UPDATE notification_channels SET open_at = ? WHERE n = ?").run(now + channel.group_ms, channel.n);
  return leased(context, channel, batch, until);
}

/** It was disabled while they were written. */
function giveUpDisabled({ connection }: Context, channel: number): "nothing" {
  connection.sql(GIVE_UP_WAITING).run(channel);
  return "nothing";
}

/** The process that sent a test is gone, and nobody waits for its result. */
function withoutTests<T extends { n: number; type: NotificationType }>(
  { connection }: Context,
  due: readonly T[],
): T[] {
  return due.filter(({ n, type }) => {
    if (type !== "test") return true;
    connection
      .sql(
        "UPDATE notification_deliveries SET state = 'given_up', next_try_at = NULL, last_error = 'the test was interrupted' WHERE n = ?",
      )
      .run(n);
    return false;
  });
}

/** A group's window, a retry or a restart may have moved them into quiet hours. Returns those that may be sent now. */
function holdInQuietHours<T extends Pick<DeliveryRow, "n" | "batch"> & { type: NotificationType }>(
  { connection }: Context,
  channel: ChannelRow,
  due: readonly T[],
  now: number,
): T[] {
  const quiet = parseJson<QuietHours | null>(channel.quiet, null);
  if (quiet === null) return [...due];
  const endOf = ({ type }: T) => notBefore(now, quiet, type);
  // A message that was tried keeps its notifications: it is sent with the most urgent of them.
  const urgent = new Set(due.filter((row) => endOf(row) <= now).map(({ batch }) => batch));
  return due.filter((row) => {
    const end = endOf(row);
    if (end <= now || (row.batch !== null && urgent.has(row.batch))) return true;
    connection.sql("UPDATE notification_deliveries SET next_try_at = ?, held = 1 WHERE n = ?").run(end, row.n);
    return false;
  });
}

function leased(context: Context, channel: ChannelRow, batch: number, until: number): DueMessage {
  const { connection } = context;
  connection
    .sql("UPDATE notification_deliveries SET next_try_at = ? WHERE batch = ? AND state = 'waiting'")
    .run(until, batch);
  const list = rows<NoticeRow & { tries: number }>(
    connection
      .sql(
        `SELECT o.*, d.tries FROM notification_deliveries d JOIN notices o ON o.n = d.notice
         WHERE d.batch = ? AND d.state = 'waiting' ORDER BY d.n`,
      )
      .all(batch),
  );
  return {
    channel: channelRecord(context, channel),
    batch,
    notices: list.map((row) => noticeOf(context, row)),
    tries: list[0]?.tries ?? 0,
  };
}

function startTest(context: Context, id: string, until: number, now: number): DueMessage {
  const { connection } = context;
  const start = () => {
    const channel = requireChannel(context, id);
    const { n: notice } = connection
      .sql(
        `INSERT INTO notices (key, type, subject, message, created_at)
         VALUES (?, 'test', ?, ?, ?) RETURNING n`,
      )
      .get(
        `test:${randomUUID()}`,
        channel.name,
        `Test: notifications of the channel ${channel.name} arrive here`,
        now,
      ) as { n: number };
    const { n } = connection
      .sql(
        `INSERT INTO notification_deliveries (channel, notice, state, tries, next_try_at, held, created_at)
         VALUES (?, ?, 'waiting', 0, ?, 0, ?) RETURNING n`,
      )
      .get(channel.n, notice, until, now) as { n: number };
    connection.sql("UPDATE notification_deliveries SET batch = n WHERE n = ?").run(n);
    logChange(context, "channel.tested", { kind: "channel", id: encodeId(context.instance, "channel", channel.n) });
    return leased(context, channel, n, until);
  };
  return connection.write(start, { durable: true });
}

/** At this many failures of a message the channel counts as failing. */
const FAILURES = 3;

function messageTried(
  context: Context,
  { batch, tries }: Parameters<NotifyStore["messageTried"]>[0],
  outcome: Parameters<NotifyStore["messageTried"]>[1],
  { deliver }: { deliver: boolean },
  now: number,
): void {
  const { connection, instance } = context;
  connection.write(() => {
    const row = connection
      .sql("SELECT channel, tries FROM notification_deliveries WHERE batch = ? AND state = 'waiting' LIMIT 1")
      .get(batch) as { channel: number; tries: number } | undefined;
    // Two processes may try it, if one is slow: a late failure does not count, but who has it has it.
    if (row === undefined || (!("delivered" in outcome) && row.tries !== tries)) return;
    lockChannel(context, row.channel);
    if ("delivered" in outcome) {
      connection
        .sql(
          `UPDATE notification_deliveries SET state = 'delivered', tries = tries + 1, next_try_at = NULL, last_error = ?,
             delivered_at = ? WHERE batch = ? AND state = 'waiting'`,
        )
        .run(outcome.refused ?? null, now, batch);
      connection
        .sql("UPDATE notification_channels SET failing_since = NULL, last_delivered_at = ? WHERE n = ?")
        .run(now, row.channel);
      return;
    }
    const { error, nextTryAt } = outcome;
    connection
      .sql(
        `UPDATE notification_deliveries SET state = CASE WHEN CAST(?1 AS BIGINT) IS NULL THEN 'given_up' ELSE 'waiting' END,
           tries = tries + 1, next_try_at = ?1, last_error = ?2 WHERE batch = ?3 AND state = 'waiting'`,
      )
      .run(nextTryAt, error, batch);
    const channel = connection
      .sql(
        `UPDATE notification_channels SET failing_since = coalesce(failing_since, ?1), last_error = ?2, last_error_at = ?1
         WHERE n = ?3 RETURNING *`,
      )
      .get(now, error, row.channel) as ChannelRow | undefined;
    // The caller of a test sees its failure.
    const isTest = connection
      .sql(
        "SELECT 1 FROM notices o JOIN notification_deliveries d ON d.notice = o.n WHERE d.batch = ? AND o.type = 'test'",
      )
      .get(batch);
    if (channel === undefined || isTest !== undefined || (nextTryAt !== null && tries + 1 < FAILURES)) return;
    insertAlerts(context, [channelFailing(encodeId(instance, "channel", channel.n), channel)], { deliver }, now);
  });
}

function channelFailing(id: string, { name, kind, failing_since: since, last_error: error }: ChannelRow): NewAlert {
  return {
    kind: "channel_failing",
    subject: id,
    message: `Notifications fail: the channel ${name} (${kind}) accepts no messages: ${error}`,
    detail: { channel_id: id, name, kind, error, since: isoOf(since!) },
    // Once until a message is accepted.
    key: `channel_failing:${id}:${since}`,
  };
}

interface NoticeRow {
  n: number;
  type: NotificationType;
  subject: string;
  message: string;
  detail: string | null;
  site: string | null;
  job_id: string | null;
  job_name: string | null;
  run_id: string | null;
  created_at: number;
}

function noticeOf({ instance }: Context, row: NoticeRow): Notice {
  return {
    id: encodeId(instance, "notice", row.n),
    type: row.type,
    subject: row.subject,
    message: row.message,
    site: row.site,
    job: row.job_id === null ? null : { id: row.job_id, name: row.job_name },
    runId: row.run_id,
    detail: parseJson<unknown>(row.detail, null),
    createdAt: row.created_at,
  };
}

function readDeliveries(context: Context, filter: Parameters<NotifyStore["deliveries"]>[0]): DeliveryRecord[] {
  const { connection, instance } = context;
  const before = positionOf(context, "delivery", filter.after);
  const channel = filter.channel === undefined ? null : requireChannel(context, filter.channel).n;
  const list = rows<
    NoticeRow & DeliveryRow & { d: number; d_created: number; channel_name: string; first: number | null }
  >(
    connection
      .sql(
        `SELECT o.*, d.n AS d, d.channel, d.batch, d.state, d.tries, d.next_try_at, d.last_error, d.delivered_at,
           d.created_at AS d_created, c.name AS channel_name, f.notice AS first
         FROM notification_deliveries d JOIN notices o ON o.n = d.notice JOIN notification_channels c ON c.n = d.channel
           LEFT JOIN notification_deliveries f ON f.n = d.batch
         WHERE d.n < ?1 AND (CAST(?2 AS BIGINT) IS NULL OR d.channel = ?2) AND (CAST(?3 AS TEXT) IS NULL OR d.state = ?3)
         ORDER BY d.n DESC LIMIT ?4`,
      )
      .all(before, channel, filter.state ?? null, filter.limit),
  );
  return list.map((row) => ({
    id: encodeId(instance, "delivery", row.d),
    channel: { id: encodeId(instance, "channel", row.channel), name: row.channel_name },
    notice: noticeOf(context, row),
    messageId: row.first === null ? null : encodeId(instance, "notice", row.first),
    state: row.state,
    tries: row.tries,
    nextTryAt: row.next_try_at,
    lastError: row.last_error,
    createdAt: row.d_created,
    deliveredAt: row.delivered_at,
  }));
}
