import { OrbError } from "../../../base/errors.ts";
import type { Created, NewSession, IdempotencyKey, SessionHealth, SessionRecord } from "../../records/job-records.ts";
import { type Context, nextRow, parseJson, positionOf, rows } from "../kernel/context.ts";
import { logChange } from "../kernel/audit-entry.ts";
import { createOnce } from "../kernel/idempotency-keys.ts";

interface SessionRow {
  n: number;
  id: string;
  name: string | null;
  origin: string;
  holds: string;
  sealed: Uint8Array;
  check_url: string | null;
  health: string | null;
  created_at: number;
  last_used_at: number | null;
}

function toRecord(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    name: row.name,
    origin: row.origin,
    holds: JSON.parse(row.holds) as string[],
    sealed: row.sealed,
    checkUrl: row.check_url,
    health: parseJson<SessionHealth | null>(row.health, null),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

function sessionRow({ connection }: Context, id: string): SessionRow | undefined {
  return connection.sql("SELECT * FROM sessions WHERE id = ?").get(id) as SessionRow | undefined;
}

function requireSession(context: Context, id: string): SessionRow {
  const row = sessionRow(context, id);
  if (row === undefined) throw new OrbError("not_found", `there is no session with the id ${id}`);
  return row;
}

function refuseTakenName({ connection }: Context, name: string): void {
  if (connection.sql("SELECT 1 FROM sessions WHERE name = ?").get(name) === undefined) return;
  const message = "another session has this name: choose another name, or delete that session first";
  throw new OrbError("input_invalid", `name: ${message}`, { fields: [{ path: "name", message }] });
}

const loggedSession = ({ name, origin, holds, checkUrl }: Omit<SessionRecord, "sealed">) => ({
  name,
  origin,
  holds,
  check_url: checkUrl,
});

export async function createSession(
  context: Context,
  session: NewSession,
  now: number,
  once?: IdempotencyKey,
): Promise<Created<SessionRecord>> {
  const create = () => {
    if (session.name !== null) refuseTakenName(context, session.name);
    const { n, id } = nextRow(context, "session");
    const row = context.connection
      .sql(
        `INSERT INTO sessions (n, id, name, origin, holds, sealed, check_url, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      )
      .get(
        n,
        id,
        session.name,
        session.origin,
        JSON.stringify(session.holds),
        session.sealed,
        session.checkUrl,
        now,
      ) as unknown as SessionRow;
    // The stored idempotent response must not contain the secret.
    const { sealed: _, ...created } = toRecord(row);
    logChange(context, "session.created", { kind: "session", id }, { after: loggedSession(created) });
    return { created, lanes: [] };
  };
  const locks = session.name === null ? {} : { names: [`session:${session.name}`] };
  const answer = await createOnce(context, once, now, create, locks);
  return { ...answer, created: { ...answer.created, sealed: new Uint8Array() } };
}

export function readSession(context: Context, idOrName: string): SessionRecord | null {
  const row =
    sessionRow(context, idOrName) ??
    (context.connection.sql("SELECT * FROM sessions WHERE name = ?").get(idOrName) as SessionRow | undefined);
  return row === undefined ? null : toRecord(row);
}

export function readSessions(
  context: Context,
  filter: { origin?: string; after?: string; limit: number },
): SessionRecord[] {
  const before = positionOf(context, "session", filter.after);
  const list = context.connection
    .sql("SELECT * FROM sessions WHERE n < ?1 AND (CAST(?2 AS TEXT) IS NULL OR origin = ?2) ORDER BY n DESC LIMIT ?3")
    .all(before, filter.origin ?? null, filter.limit);
  return rows<SessionRow>(list).map(toRecord);
}

export function noteSessionHealth(context: Context, id: string, health: SessionHealth): SessionRecord {
  return context.connection.write(() => {
    requireSession(context, id);
    context.connection.sql("UPDATE sessions SET health = ? WHERE id = ?").run(JSON.stringify(health), id);
    return toRecord(requireSession(context, id));
  });
}

/** A crawl requests many pages a second. */
const USE_RESOLUTION_MS = 60_000;

export function noteSessionUse({ connection }: Context, id: string, now: number): void {
  connection.write(() =>
    connection
      .sql("UPDATE sessions SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?3)")
      .run(now, id, now - USE_RESOLUTION_MS),
  );
}

export function deleteSession(context: Context, id: string): void {
  context.connection.write(
    () => {
      const row = requireSession(context, id);
      logChange(context, "session.deleted", { kind: "session", id }, { before: loggedSession(toRecord(row)) });
      context.connection.sql("DELETE FROM sessions WHERE id = ?").run(id);
    },
    { durable: true },
  );
}
