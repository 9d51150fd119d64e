import type { ActorKind } from "../../../domain/access/caller.ts";
import type { Change } from "../../../domain/access/mask.ts";
import type { AccessStore, AuditEntry, AuditFilter } from "../../ports/security/access-port.ts";
import { changeKey, createKey, noteKeyUse, readKey, readKeyByHash, readKeys, revokeKey } from "../catalog/keys.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { type Context, rows } from "../kernel/context.ts";

export function accessStore(context: Context): AccessStore {
  const { connection } = context;
  return {
    createKey: async (key, now) => createKey(context, key, now),
    key: async (id) => readKey(context, id),
    keyByHash: async (hash) => readKeyByHash(context, hash),
    keys: async (filter) => readKeys(context, filter),
    changeKey: async (id, change) => changeKey(context, id, change),
    revokeKey: async (id, now) => revokeKey(context, id, now),
    noteKeyUse: async (id, now) => noteKeyUse(context, id, now),
    auditLog: async (filter) => readAuditLog(context, filter),
    recordAudit: async (action, object, after) =>
      connection.write(() => logChange(context, action, object, { after }), { durable: true }),
    trimAuditLog: async (before, limit) =>
      connection.write(() =>
        Number(
          connection
            .sql("DELETE FROM audit_log WHERE seq IN (SELECT seq FROM audit_log WHERE at < ? ORDER BY at LIMIT ?)")
            .run(before, limit).changes,
        ),
      ),
  };
}

interface AuditRow {
  seq: number;
  at: number;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string;
  action: string;
  object_kind: string;
  object_id: string | null;
  ip: string | null;
  request_id: string | null;
  changes: string;
}

function readAuditLog({ connection }: Context, filter: AuditFilter): AuditEntry[] {
  const conditions = ["seq < ?"];
  const values: (string | number)[] = [filter.before ?? Number.MAX_SAFE_INTEGER];
  const add = (condition: string, ...more: (string | number)[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (filter.actorKind !== undefined) add("actor_kind = ?", filter.actorKind);
  if (filter.actor !== undefined) add("(actor_id = ? OR actor_name = ?)", filter.actor, filter.actor);
  if (filter.action !== undefined)
    // The first part of an action and a dot: texts from `job.` to before `job/`.
    add("(action = ? OR (action > ? AND action < ?))", filter.action, `${filter.action}.`, `${filter.action}/`);
  if (filter.objectKind !== undefined) add("object_kind = ?", filter.objectKind);
  if (filter.objectId !== undefined) add("object_id = ?", filter.objectId);
  if (filter.since !== undefined) add("at >= ?", filter.since);
  if (filter.until !== undefined) add("at < ?", filter.until);
  const list = connection
    .sql(`SELECT * FROM audit_log WHERE ${conditions.join(" AND ")} ORDER BY seq DESC LIMIT ?`)
    .all(...values, filter.limit);
  return rows<AuditRow>(list).map((row) => ({
    seq: row.seq,
    at: row.at,
    actor: { kind: row.actor_kind as ActorKind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    object: { kind: row.object_kind, id: row.object_id },
    ip: row.ip,
    requestId: row.request_id,
    changes: JSON.parse(row.changes) as Change[],
  }));
}
