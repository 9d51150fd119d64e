import { decodeId, encodeId } from "../../../domain/run/ids.ts";
import type { EventRecord, EventWindow, FeedWindow } from "../../ports/port.ts";
import { EVENT_TYPE } from "./event-type-of-message.ts";
import { badPosition, type Context, parseJson, rows } from "../kernel/context.ts";
import { requireRun } from "./runs.ts";

interface EventRow {
  n: number;
  seq: number;
  type: EventRecord["type"];
  level: EventRecord["level"];
  message: string;
  meta: string | null;
  created_at: number;
}

function toRecord(context: Context, row: EventRow): EventRecord {
  return {
    id: encodeId(context.instance, "event", row.n),
    seq: row.seq,
    type: row.type,
    level: row.level,
    message: row.message,
    meta: parseJson(row.meta, {}),
    createdAt: row.created_at,
  };
}

export function readEvents(context: Context, runId: string, options: EventWindow): EventRecord[] {
  const run = requireRun(context, runId);
  const { after, order = "oldest", types, limit } = options;
  const [operator, direction, start] = order === "oldest" ? [">", "", 0] : ["<", "DESC", BEHIND_ALL];
  const from = after === undefined ? start : seqOf(context, run.n, after);
  const where = `e.run = ? AND e.seq ${operator} ?${types === undefined ? "" : ` AND ${OF_TYPES}`}`;
  const list = context.connection
    .sql(`SELECT ${COLUMNS} FROM events e WHERE ${where} ORDER BY e.seq ${direction} LIMIT ?`)
    .all(run.n, from, ...(types === undefined ? [] : [JSON.stringify(types)]), limit);
  return rows<EventRow>(list).map((row) => toRecord(context, row));
}

const OF_TYPES = `${EVENT_TYPE} IN (SELECT value FROM json_each(?))`;
const COLUMNS = `e.n, e.seq, ${EVENT_TYPE} AS type, e.level, e.message, e.meta, e.created_at`;
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

/** The position after an event. For an event that a database crash undid, the position of the one before it. */
function seqOf({ connection, instance }: Context, run: number, id: string): number {
  const row = decodeId(instance, "event", id);
  const found = row === null ? undefined : connection.sql("SELECT run, seq FROM events WHERE n = ?").get(row);
  if (row === null || (found !== undefined && found["run"] !== run)) throw badPosition(id, "an event of this run");
  if (found !== undefined) return Number(found["seq"]);
  const before = connection.sql("SELECT seq FROM events WHERE run = ? AND n < ? ORDER BY seq DESC LIMIT 1");
  return Number(before.get(run, row)?.["seq"] ?? 0);
}

/** Event numbers follow commit order (`appendEvent`): a reader that saw one has seen all before it. */
export function readFeed(
  context: Context,
  options: FeedWindow,
): { events: (EventRecord & { runId: string })[]; last: string } {
  const { connection } = context;
  const newest = (connection.sql("SELECT max(n) AS n FROM events").get() as { n: number | null }).n ?? 0;
  const encode = (row: number) => encodeId(context.instance, "event", row);
  if (options.after === undefined) return { events: [], last: encode(newest) };
  const after = decodeId(context.instance, "event", options.after);
  if (after === null) throw badPosition(options.after, "an event");
  const list = rows<EventRow & { run_id: string }>(
    connection
      .sql(
        `SELECT ${COLUMNS}, r.id AS run_id
         FROM events e JOIN runs r ON r.n = e.run
         WHERE e.n > ? ${options.ends === true ? "AND e.terminal = 1" : ""} AND r.removing_at IS NULL ORDER BY e.n LIMIT ?`,
      )
      .all(after, options.limit),
  );
  // Behind the last one are only events that were passed over.
  const isEnd = list.length === 0 || (options.ends === true && list.length < options.limit);
  const last = list.at(-1)?.n ?? after;
  return {
    events: list.map((row) => ({ ...toRecord(context, row), runId: row.run_id })),
    last: encode(isEnd ? Math.max(last, newest) : last),
  };
}
