import { randomUUID } from "node:crypto";
import { type Actor, currentCaller, type Limits } from "../../../domain/access/caller.ts";
import { OrbError } from "../../../base/errors.ts";
import type { Role } from "../../../domain/access/roles.ts";
import type { KeyChange, KeyRecord, NewKey } from "../../ports/security/access-port.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { badPosition, type Context, parseJson, rows, toJson } from "../kernel/context.ts";

interface KeyRow {
  n: number;
  id: string;
  name: string;
  hash: string;
  prefix: string;
  role: string;
  limits: string;
  requests_per_minute: number | null;
  expires_at: number | null;
  created_at: number;
  created_by: string | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

function toRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    prefix: row.prefix,
    role: row.role as Role,
    limits: JSON.parse(row.limits) as Limits,
    requestsPerMinute: row.requests_per_minute,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    createdBy: parseJson<Actor | null>(row.created_by, null),
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

/** What the audit log shows of a key. */
function logged({ name, role, limits, requestsPerMinute, expiresAt, revokedAt }: KeyRecord): Record<string, unknown> {
  const { jobs, sites, tags } = limits;
  return {
    name,
    role,
    jobs,
    sites,
    tags,
    requests_per_minute: requestsPerMinute,
    expires_at: expiresAt,
    revoked_at: revokedAt,
  };
}

export function createKey(context: Context, key: NewKey, now: number): KeyRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const row = connection
        .sql(
          `INSERT INTO api_keys (id, name, hash, prefix, role, limits, requests_per_minute, expires_at, created_at, created_by)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        )
        .get(
          randomUUID(),
          key.name,
          key.hash,
          key.prefix,
          key.role,
          JSON.stringify(key.limits),
          key.requestsPerMinute,
          key.expiresAt,
          now,
          toJson(currentCaller()?.actor),
        ) as unknown as KeyRow;
      const created = toRecord(row);
      logChange(context, "key.created", { kind: "key", id: created.id }, { after: logged(created) });
      return created;
    },
    { durable: true },
  );
}

export function readKey({ connection }: Context, id: string): KeyRecord | null {
  const row = connection.sql("SELECT * FROM api_keys WHERE id = ?").get(id) as KeyRow | undefined;
  return row === undefined ? null : toRecord(row);
}

export function readKeyByHash({ connection }: Context, hash: string): KeyRecord | null {
  const row = connection.sql("SELECT * FROM api_keys WHERE hash = ?").get(hash) as KeyRow | undefined;
  return row === undefined ? null : toRecord(row);
}

export function readKeys(
  { connection }: Context,
  { after, limit, revoked }: { after?: string; limit: number; revoked?: boolean },
): KeyRecord[] {
  const position =
    after === undefined
      ? Number.MAX_SAFE_INTEGER
      : connection.sql("SELECT n FROM api_keys WHERE id = ?").get(after)?.["n"];
  if (position === undefined) throw badPosition(after ?? "", "a key");
  const which = revoked === undefined ? "" : ` AND revoked_at IS ${revoked ? "NOT " : ""}NULL`;
  const list = connection
    .sql(`SELECT * FROM api_keys WHERE n < ?${which} ORDER BY n DESC LIMIT ?`)
    .all(Number(position), limit);
  return rows<KeyRow>(list).map(toRecord);
}

function noSuchKey(id: string): OrbError {
  return new OrbError("not_found", `there is no key with the id ${id}`, {
    hint: "`orb keys list` shows the ids of all keys.",
  });
}

/** Locks the row: two changes at once are both recorded as they were made. */
function requireKey(context: Context, id: string): KeyRecord {
  const { connection } = context;
  const row = connection.sql(`SELECT * FROM api_keys WHERE id = ? ${connection.dialect.forUpdate}`).get(id);
  if (row === undefined) throw noSuchKey(id);
  return toRecord(row as unknown as KeyRow);
}

/** An admin could create a key without limits. */
function limitedAdmin(): OrbError {
  const message = "an admin cannot be limited to jobs, sites or tags: choose operator or viewer";
  return new OrbError("input_invalid", `role: ${message}`, { fields: [{ path: "role", message }] });
}

export function changeKey(context: Context, id: string, change: KeyChange): KeyRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const before = requireKey(context, id);
      if (before.revokedAt !== null)
        throw new OrbError("illegal_transition", "a revoked key cannot be changed", { hint: "Create another key." });
      // Under the lock of the row: of two changes at once none takes back a limit of the other.
      const after = { ...before, ...change, limits: { ...before.limits, ...change.limits } };
      if (after.role === "admin" && Object.values(after.limits).some((limit) => limit !== null)) throw limitedAdmin();
      connection
        .sql("UPDATE api_keys SET name = ?, role = ?, limits = ?, requests_per_minute = ?, expires_at = ? WHERE id = ?")
        .run(after.name, after.role, JSON.stringify(after.limits), after.requestsPerMinute, after.expiresAt, id);
      logChange(context, "key.updated", { kind: "key", id }, { before: logged(before), after: logged(after) });
      return after;
    },
    { durable: true },
  );
}

export function revokeKey(context: Context, id: string, now: number): KeyRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const before = requireKey(context, id);
      if (before.revokedAt !== null) return before;
      connection.sql("UPDATE api_keys SET revoked_at = ? WHERE id = ?").run(now, id);
      const after = { ...before, revokedAt: now };
      logChange(context, "key.revoked", { kind: "key", id }, { before: logged(before), after: logged(after) });
      return after;
    },
    { durable: true },
  );
}

/** A client may send a thousand requests a second. */
const USE_RESOLUTION_MS = 60_000;

export function noteKeyUse({ connection }: Context, id: string, now: number): void {
  connection.write(() =>
    connection
      .sql("UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?3)")
      .run(now, id, now - USE_RESOLUTION_MS),
  );
}
