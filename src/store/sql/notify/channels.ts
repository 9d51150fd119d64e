import { OrbError } from "../../../base/errors.ts";
import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import type { QuietHours } from "../../../domain/notify/quiet-hours.ts";
import type { NotificationRule } from "../../../domain/notify/rules.ts";
import type { Settings } from "../../../domain/notify/channel-kind.ts";
import type { ChannelRecord, NewChannel } from "../../ports/notify/notify-port.ts";
import type { Created, IdempotencyKey } from "../../records/job-records.ts";
import { type Context, parseJson, rows, toJson } from "../kernel/context.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { createOnce } from "../kernel/idempotency-keys.ts";

export interface ChannelRow {
  n: number;
  name: string;
  kind: string;
  settings: string;
  sealed: Uint8Array;
  target: string;
  rules: string;
  quiet: string | null;
  group_ms: number;
  enabled: number;
  /** No new message before; NULL: none was sent. */
  open_at: number | null;
  failing_since: number | null;
  last_error: string | null;
  last_error_at: number | null;
  last_delivered_at: number | null;
  created_at: number;
  updated_at: number;
}

export function channelRecord({ instance, connection }: Context, row: ChannelRow): ChannelRecord {
  const waiting = connection
    .sql("SELECT count(*) AS waiting FROM notification_deliveries WHERE channel = ? AND state = 'waiting'")
    .get(row.n) as { waiting: number };
  return {
    id: encodeId(instance, "channel", row.n),
    name: row.name,
    kind: row.kind,
    settings: JSON.parse(row.settings) as Settings,
    sealed: row.sealed,
    target: row.target,
    rules: JSON.parse(row.rules) as NotificationRule[],
    quiet: parseJson<QuietHours | null>(row.quiet, null),
    groupMs: row.group_ms,
    enabled: row.enabled === 1,
    failingSince: row.failing_since,
    lastError: row.last_error,
    lastErrorAt: row.last_error_at,
    lastDeliveredAt: row.last_delivered_at,
    waiting: Number(waiting.waiting),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function channelRow({ connection, instance }: Context, idOrName: string): ChannelRow | undefined {
  const n = decodeId(instance, "channel", idOrName);
  const found =
    n === null
      ? connection.sql("SELECT * FROM notification_channels WHERE name = ?").get(idOrName)
      : connection.sql("SELECT * FROM notification_channels WHERE n = ?").get(n);
  return found as ChannelRow | undefined;
}

export function requireChannel(context: Context, idOrName: string): ChannelRow {
  const row = channelRow(context, idOrName);
  if (row === undefined)
    throw new OrbError("not_found", `there is no notification channel with the id or name ${idOrName}`);
  return row;
}

function nameTaken(): OrbError {
  const message = "another channel has this name: choose another name, or delete that channel first";
  return new OrbError("input_invalid", `name: ${message}`, { fields: [{ path: "name", message }] });
}

export async function createChannel(
  context: Context,
  channel: NewChannel,
  now: number,
  once?: IdempotencyKey,
): Promise<Created<ChannelRecord>> {
  const answer = await createOnce(context, once, now, () => {
    const row = context.connection
      .sql(
        `INSERT INTO notification_channels (name, kind, settings, sealed, target, rules, quiet, group_ms, enabled, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING *`,
      )
      .get(...valuesOf(channel), now, now) as ChannelRow | undefined;
    if (row === undefined) throw nameTaken();
    // The stored idempotent response must not contain the secret.
    const { sealed: _, ...created } = channelRecord(context, row);
    logChange(context, "channel.created", { kind: "channel", id: created.id }, { after: loggedChannel(created) });
    return { created, lanes: [] };
  });
  return { ...answer, created: { ...answer.created, sealed: new Uint8Array() } };
}

/** For the audit log: what the operator has set. The log masks `secrets`, and says that they differ. */
const loggedChannel = (
  { name, kind, target, settings, rules, quiet, groupMs, enabled }: Omit<ChannelRecord, "sealed">,
  sealed: Uint8Array | null = null,
) => ({
  name,
  kind,
  target,
  settings,
  secrets: sealed === null ? null : Buffer.from(sealed).toString("base64"),
  rules,
  quiet,
  group_ms: groupMs,
  enabled,
});

const valuesOf = ({ name, kind, settings, sealed, target, rules, quiet, groupMs, enabled }: NewChannel) =>
  [
    name,
    kind,
    JSON.stringify(settings),
    sealed,
    target,
    JSON.stringify(rules),
    toJson(quiet),
    groupMs,
    enabled ? 1 : 0,
  ] as const;

export function readChannel(context: Context, idOrName: string): ChannelRecord | null {
  const row = channelRow(context, idOrName);
  return row === undefined ? null : channelRecord(context, row);
}

export function readChannels(context: Context): ChannelRecord[] {
  const list = rows<ChannelRow>(context.connection.sql("SELECT * FROM notification_channels ORDER BY name").all());
  return list.map((row) => channelRecord(context, row));
}

/** Of a channel that is disabled. */
export const GIVE_UP_WAITING = `UPDATE notification_deliveries
  SET state = 'given_up', next_try_at = NULL, last_error = 'the channel was disabled' WHERE channel = ? AND state = 'waiting'`;

export function updateChannel(context: Context, id: string, change: Partial<NewChannel>, now: number): ChannelRecord {
  try {
    return changed(context, id, change, now);
  } catch (error) {
    // On Postgres, another process may take the name at the same moment.
    if (change.name !== undefined && (error as { code?: string }).code === UNIQUE_VIOLATION) throw nameTaken();
    throw error;
  }
}

const UNIQUE_VIOLATION = "23505";

function changed(context: Context, id: string, change: Partial<NewChannel>, now: number): ChannelRecord {
  const { connection } = context;
  return connection.write(
    () => {
      lockChannel(context, requireChannel(context, id).n);
      const before = requireChannel(context, id);
      const after = { ...channelRecord(context, before), ...change };
      const other = connection.sql("SELECT 1 FROM notification_channels WHERE name = ? AND n <> ?");
      if (other.get(after.name, before.n) !== undefined) throw nameTaken();
      // A changed receiver has not failed yet, and one that is enabled again may work again.
      const isNew = change.sealed !== undefined || after.enabled !== (before.enabled === 1);
      const failing = isNew ? null : before.failing_since;
      const row = connection
        .sql(
          `UPDATE notification_channels SET name = ?, kind = ?, settings = ?, sealed = ?, target = ?, rules = ?, quiet = ?, group_ms = ?,
             enabled = ?, failing_since = ?, updated_at = ? WHERE n = ? RETURNING *`,
        )
        .get(...valuesOf(after), failing, now, before.n) as unknown as ChannelRow;
      if (row.enabled === 0) connection.sql(GIVE_UP_WAITING).run(row.n);
      const record = channelRecord(context, row);
      logChange(
        context,
        "channel.changed",
        { kind: "channel", id: record.id },
        {
          before: loggedChannel(channelRecord(context, before), before.sealed),
          after: loggedChannel(record, row.sealed),
        },
      );
      return record;
    },
    { durable: true },
  );
}

/** Always before its deliveries: everyone locks them in this order. */
export function lockChannel({ connection }: Context, n: number): void {
  connection.sql("UPDATE notification_channels SET open_at = open_at WHERE n = ?").run(n);
}

export function deleteChannel(context: Context, id: string): void {
  context.connection.write(
    () => {
      const row = requireChannel(context, id);
      const deleted = channelRecord(context, row);
      lockChannel(context, row.n);
      context.connection.sql("DELETE FROM notification_deliveries WHERE channel = ?").run(row.n);
      context.connection.sql("DELETE FROM notification_channels WHERE n = ?").run(row.n);
      logChange(context, "channel.deleted", { kind: "channel", id: deleted.id }, { before: loggedChannel(deleted) });
    },
    { durable: true },
  );
}
