import { OrbError } from "../../base/errors.ts";
import type { Made, NewSession, Once, SessionHealth, SessionRecord } from "../job-records.ts";
import { type Context, nextRow, parseJson, positionOf, rows } from "./context.ts";
import { makeOnce } from "./once.ts";

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

export async function createSession(
  context: Context,
  session: NewSession,
  now: number,
  once?: Once,
): Promise<Made<SessionRecord>> {
  const answer = await makeOnce(context, once, now, () => {
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
    // What is kept for a repetition of the call need not hold the secret once more.
    const { sealed: _, ...made } = toRecord(row);
    return { made, lanes: [] };
  });
  return { ...answer, made: { ...answer.made, sealed: new Uint8Array() } };
}

export function readSession(context: Context, id: string): SessionRecord | null {
  const row = sessionRow(context, id);
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

export function deleteSession(context: Context, id: string): void {
  context.connection.write(
    () => {
      requireSession(context, id);
      context.connection.sql("DELETE FROM sessions WHERE id = ?").run(id);
    },
    { durable: true },
  );
}
