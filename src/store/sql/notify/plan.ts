/** Which channels receive a notification: decided in the transaction of the alert, or of the position in the events. */
import {
  channelReceives,
  type JobNotify,
  type NotificationFacts,
  type NotificationRule,
} from "../../../domain/notify/rules.ts";
import { notBefore, type QuietHours } from "../../../domain/notify/quiet-hours.ts";
import { typeOfAlert } from "../../../domain/notify/types.ts";
import { encodeId } from "../../../domain/run/ids.ts";
import type { AlertRecord } from "../../ports/alert-port.ts";
import type { NewNotice } from "../../ports/notify/notify-port.ts";
import { type Context, parseJson, rows, toJson } from "../kernel/context.ts";
import type { ChannelRow } from "./channels.ts";

const MAX_KEPT = 10_000;
const DROP_BATCH = 500;

interface About extends NewNotice {
  jobId: string | null;
  site: string | null;
  /** The channel that an alert is about never receives it. */
  notTo: string | null;
}

/** Runs of the program itself. */
const SILENT_KINDS = new Set(["proxy_refresh", "download"]);

/** Within the caller's transaction. */
export function planAlerts(context: Context, alerts: readonly AlertRecord[], now: number): void {
  const list = alerts.flatMap((alert): About[] => {
    const type = typeOfAlert(alert.kind);
    if (type === null) return [];
    const detail = (alert.detail ?? {}) as Record<string, unknown>;
    const text = (name: string) => (typeof detail[name] === "string" ? detail[name] : null);
    const { id, subject, message, createdAt } = alert;
    return [
      {
        key: `alert:${id}`,
        type,
        subject,
        message,
        detail: alert.detail,
        runId: text("run_id"),
        createdAt,
        jobId: text("job_id"),
        site: text("site"),
        notTo: alert.kind === "channel_failing" ? subject : null,
      },
    ];
  });
  plan(context, list, now);
}

/** Within the caller's transaction. */
export function planNotices(context: Context, notices: readonly NewNotice[], now: number): void {
  if (notices.length === 0 || !hasChannels(context)) return;
  const list = notices.flatMap((notice): About[] => {
    const run = context.connection.sql("SELECT kind, job, site FROM runs WHERE id = ?").get(notice.runId) as
      | { kind: string; job: string | null; site: string | null }
      | undefined;
    if (run === undefined || SILENT_KINDS.has(run.kind)) return [];
    return [{ ...notice, jobId: run.job, site: run.site === "" ? null : run.site, notTo: null }];
  });
  plan(context, list, now);
}

const hasChannels = ({ connection }: Context) =>
  connection.sql("SELECT 1 FROM notification_channels WHERE enabled = 1 LIMIT 1").get() !== undefined;

interface PlannedChannel {
  row: ChannelRow;
  id: string;
  rules: readonly NotificationRule[];
  quiet: QuietHours | null;
}

function plan(context: Context, list: readonly About[], now: number): void {
  if (list.length === 0) return;
  const { connection, instance } = context;
  const channels = rows<ChannelRow>(
    connection.sql("SELECT * FROM notification_channels WHERE enabled = 1 ORDER BY n").all(),
  ).map((row): PlannedChannel => ({
    row,
    id: encodeId(instance, "channel", row.n),
    rules: JSON.parse(row.rules) as NotificationRule[],
    quiet: parseJson<QuietHours | null>(row.quiet, null),
  }));
  if (channels.length === 0) return;
  let added = false;
  for (const about of list) added = planOne(context, channels, about, now) || added;
  if (added) dropOldest(context);
}

function planOne(context: Context, channels: readonly PlannedChannel[], about: About, now: number): boolean {
  const { connection } = context;
  const job = about.jobId === null ? null : jobOf(context, about.jobId);
  const site = about.site ?? job?.site ?? null;
  const facts: NotificationFacts = { type: about.type, site, job };
  const wanted = channels.filter(
    (channel) =>
      channel.id !== about.notTo &&
      // Events are read again after a restart: a new channel gets none from before.
      channel.row.created_at <= about.createdAt &&
      channelReceives(channel, facts),
  );
  if (wanted.length === 0) return false;
  const row = connection
    .sql(
      `INSERT INTO notices (key, type, subject, message, detail, site, job_id, job_name, run_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING n`,
    )
    .get(
      about.key,
      about.type,
      about.subject,
      about.message,
      toJson(about.detail),
      site,
      job?.id ?? null,
      job?.name ?? null,
      about.runId,
      about.createdAt,
    ) as { n: number } | undefined;
  if (row === undefined) return false;
  for (const { row: channel, quiet } of wanted) {
    const quietEnd = notBefore(now, quiet, about.type);
    connection
      .sql(
        `INSERT INTO notification_deliveries (channel, notice, state, tries, next_try_at, held, created_at)
         VALUES (?, ?, 'waiting', 0, ?, ?, ?)`,
      )
      .run(channel.n, row.n, Math.max(quietEnd, channel.open_at ?? 0), quietEnd > now ? 1 : 0, now);
  }
  return true;
}

function jobOf({ connection }: Context, id: string) {
  const row = connection.sql("SELECT name, site, tags, recipe FROM jobs WHERE id = ?").get(id) as
    | { name: string | null; site: string; tags: string; recipe: string | null }
    | undefined;
  if (row === undefined) return null;
  const { notify } = parseJson<{ notify?: JobNotify[] }>(row.recipe, {}) ?? {};
  return {
    id,
    name: row.name,
    site: row.site === "" ? null : row.site,
    tags: JSON.parse(row.tags) as string[],
    notify: notify ?? [],
  };
}

function dropOldest({ connection }: Context): void {
  connection
    .sql(
      `DELETE FROM notification_deliveries WHERE n IN (SELECT n FROM notification_deliveries
         WHERE n <= (SELECT max(n) FROM notification_deliveries) - ${MAX_KEPT} AND state <> 'waiting' ORDER BY n LIMIT ${DROP_BATCH})`,
    )
    .run();
  connection
    .sql(
      `DELETE FROM notices WHERE n IN (SELECT n FROM notices
         WHERE n < (SELECT min(notice) FROM notification_deliveries) ORDER BY n LIMIT ${DROP_BATCH})`,
    )
    .run();
}
