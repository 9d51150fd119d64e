import type { Connection, Dialect, ForEach, Row, Value } from "../sql/kernel/connection.ts";
import { STATE, toJson } from "../sql/kernel/context.ts";
import { LIMITS } from "./limits.ts";
import { cleaned } from "./cleaned.ts";
import type { BulkConnection } from "./sync-channel.ts";

/** All rows of a list in one statement: a round trip costs more than a hundred rows. */
const INSERT_TASKS = `INSERT INTO tasks (stream, state, priority, created_at, key_hash, key, url, handler, payload)
  SELECT stream, ${STATE.queued}, priority, $1::bigint, key_hash, key, url, handler, payload
  FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::text[])
    WITH ORDINALITY AS new (stream, priority, key_hash, key, url, handler, payload, row_index) ORDER BY row_index
  ON CONFLICT (key_hash) DO NOTHING RETURNING id, key_hash`;

/** Advisory locks: of one of the partitions of runs, and of a name. */
export const PARTITION_LOCK = 0x4f727000;
export const NAME_LOCK = 0x4f727100;
/** Two runs exclude each other's writers by chance if their numbers are equal modulo this. */
export const PARTITIONS = 64;

/** The run that started a workflow with all its child runs; by index only. */
const ROOT = `(WITH RECURSIVE up AS (SELECT w.n AS n UNION ALL
  SELECT (SELECT r.parent_run FROM runs r WHERE r.n = up.n) FROM up WHERE up.n IS NOT NULL) SELECT min(n) FROM up)`;

const lockStatements = new Map<string, string>();

/**
 * Runs of one workflow have the partition of the run that started first: an end wakes the step that waits for it, and a
 * cancelled workflow cancels its child runs. Partitions are locked in order.
 */
function lockStatement(runs: string): string {
  let text = lockStatements.get(runs);
  if (text === undefined)
    lockStatements.set(
      runs,
      (text = `WITH wanted AS MATERIALIZED (${runs}),
        partitions AS (SELECT DISTINCT ${ROOT} % ${PARTITIONS} AS p FROM wanted w WHERE w.n IS NOT NULL ORDER BY 1),
        locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${PARTITION_LOCK} + p::int, hashtext(current_schema())) AS lock FROM partitions)
      SELECT n FROM wanted WHERE n IS NOT NULL AND (SELECT count(lock::text) FROM locked) >= 0`),
    );
  return text;
}

/** Leaves out what others have locked. */
function tryStatement(runs: string): string {
  return `WITH wanted AS MATERIALIZED (SELECT w.n, ${ROOT} % ${PARTITIONS} AS p FROM (${runs}) AS w WHERE w.n IS NOT NULL),
    locked AS MATERIALIZED (SELECT p, pg_try_advisory_xact_lock(${PARTITION_LOCK} + p::int, hashtext(current_schema())) AS got
      FROM (SELECT DISTINCT p FROM wanted) AS partitions)
    SELECT w.n, l.got::int AS got FROM wanted w JOIN locked l ON l.p = w.p`;
}

const bulkOf = (connection: Connection) => connection as Connection & BulkConnection;
const nameOf = (hash: Uint8Array) => Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString("latin1");

export const postgresDialect: Dialect = {
  each(connection, statement, list) {
    if (list.length > 0) bulkOf(connection).bulk(listStatement(statement), columnsOf(statement, list));
  },

  eachChanged(connection, statement, list) {
    if (list.length === 0) return [];
    const text = `${listStatement(statement)} RETURNING ${statement.key} AS key`;
    const { rows } = bulkOf(connection).bulk(text, columnsOf(statement, list))();
    const changed = new Set((rows as { key: Value }[]).map(({ key }) => key));
    const column = Object.keys(statement.columns).indexOf(statement.key.split(".")[1] as string);
    return list.map((row) => changed.has(row[column] as Value));
  },

  eachFirst: (connection, statement, list) => postgresDialect.lookUp(connection, statement, list)(),

  lookUp(connection, statement, list) {
    if (list.length === 0) return () => [];
    const answer = bulkOf(connection).bulk(listStatement(statement), columnsOf(statement, list));
    return () => {
      const found: (Row | undefined)[] = list.map(() => undefined);
      // WITH ORDINALITY counts from one.
      for (const row of answer().rows as (Row & { row_index: number })[]) found[row.row_index - 1] ??= row;
      return found;
    };
  },

  firsts: (connection, list) => postgresDialect.ask(connection, list)(),

  ask(connection, list) {
    const answers = list.map(({ text, values }) => bulkOf(connection).first(text, values));
    return () => answers.map((answer) => answer());
  },

  lists(connection, list) {
    const answers = list.map((query) => bulkOf(connection).list(query));
    return answers.map((answer) => answer());
  },

  isShared: true,
  forUpdate: "FOR NO KEY UPDATE",
  forKeyShare: "FOR KEY SHARE",
  unlessLocked: "FOR NO KEY UPDATE SKIP LOCKED",

  lockRuns(connection, { text, values }, turn) {
    const statement = turn === "try" ? tryStatement(text) : lockStatement(text);
    // For all of them together: lock_timeout is that of each.
    if (typeof turn === "object") connection.sql(`SET LOCAL statement_timeout = ${turn.waitMs}`).run();
    const answer = bulkOf(connection).list({ text: statement, values });
    if (typeof turn === "object") connection.sql(`SET LOCAL statement_timeout = ${LIMITS.statement_timeout}`).run();
    let known: { locked: Set<number>; missed: boolean } | null = null;
    const read = () => {
      if (known !== null) return known;
      const list = answer() as { n: number; got?: number }[];
      const locked = list.filter(({ got = 1 }) => got === 1);
      return (known = { locked: new Set(locked.map(({ n }) => n)), missed: locked.length < list.length });
    };
    return Object.assign((run: number) => read().locked.has(run), { missed: () => read().missed });
  },

  lockName(connection, name) {
    connection.sql(`SELECT pg_advisory_xact_lock(${NAME_LOCK}, hashtext(current_schema() || ':' || ?))`).run(name);
  },

  lockNames(connection, { text, values }, turn) {
    const names = `SELECT DISTINCT name COLLATE "C" AS name FROM (${text}) AS wanted ORDER BY 1`;
    const key = `${NAME_LOCK}, hashtext(current_schema() || ':' || name)`;
    const lock = turn === "try" ? `pg_try_advisory_xact_lock(${key})::int` : `pg_advisory_xact_lock(${key})::text`;
    const answer = bulkOf(connection).list({ text: `SELECT name, ${lock} AS got FROM (${names}) AS names`, values });
    return () =>
      new Set((answer() as { name: string; got: unknown }[]).flatMap(({ name, got }) => (got === 0 ? [name] : [])));
  },

  // Of the sequence that numbers events: they are never numbered twice.
  clock: "(SELECT last_value FROM events_n_seq)",
  tick: "nextval('events_n_seq')",

  nextNumber: (connection, table) =>
    Number(connection.sql("SELECT nextval(pg_get_serial_sequence(?, 'n')) AS n").get(table)?.["n"]),

  // Every change that others must see appends an event or updates the control row.
  foreignVersion: (connection) =>
    Number(connection.sql("SELECT coalesce(max(n), 0) + (SELECT version FROM control) AS n FROM events").get()?.["n"]),

  insertTasks(connection, list, now) {
    if (list.length === 0) return [];
    const { rows } = bulkOf(connection).bulk(INSERT_TASKS, [
      now,
      list.map(({ target }) => target.stream),
      list.map(({ task }) => task.priority),
      list.map(({ hash }) => hash),
      list.map(({ task }) => cleaned(task.key)),
      list.map(({ task }) => cleaned(task.url)),
      list.map(({ task }) => cleaned(task.handler)),
      list.map(({ task }) => cleaned(toJson(task.payload))),
    ])();
    const added = new Map(
      (rows as { id: number; key_hash: Uint8Array }[]).map((row) => [nameOf(row.key_hash), row.id]),
    );
    return list.map(({ hash }) => {
      const name = nameOf(hash);
      const id = added.get(name) ?? null;
      // A key that occurs twice in the list was added once.
      added.delete(name);
      return id;
    });
  },

  tasksAmong: (connection, hashes) =>
    among(connection, hashes, "SELECT key_hash FROM tasks WHERE key_hash = ANY($1::bytea[])", []),

  aliasesAmong: (connection, run, hashes) =>
    among(connection, hashes, "SELECT key_hash FROM page_aliases WHERE key_hash = ANY($1::bytea[]) AND run = $2", [
      run,
    ]),

  outliveCrash: (connection) => void connection.sql("SET LOCAL synchronous_commit = on").run(),

  // The disk is the server's, and tables do not shrink with their rows: a budget once exceeded would stay exceeded.
  bytes: () => 0,

  // Postgres checks its pages as it reads them.
  damage: () => [],

  probe(connection) {
    connection
      .sql(
        "INSERT INTO meta VALUES ('probe', repeat('00', 4096)) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      )
      .run();
    connection.sql("DELETE FROM meta WHERE name = 'probe'").run();
  },
};

/** Sent with the next statement whose answer is needed. */
function among(
  connection: Connection,
  hashes: readonly Uint8Array[],
  text: string,
  parameters: readonly number[],
): (hash: Uint8Array) => boolean {
  const answer = hashes.length === 0 ? null : bulkOf(connection).bulk(text, [[...hashes], ...parameters]);
  let found: Set<string> | null = null;
  return (hash) => {
    found ??= new Set(((answer?.().rows ?? []) as { key_hash: Uint8Array }[]).map((row) => nameOf(row.key_hash)));
    return found.has(nameOf(hash));
  };
}

const listStatements = new Map<ForEach, string>();

/** Replaces the list `new` by one array parameter per column, in row order. */
function listStatement(statement: ForEach): string {
  let text = listStatements.get(statement);
  if (text === undefined) {
    const columns = Object.entries(statement.columns);
    const lists = columns.map(([, type], index) => `$${index + 1}::${type}[]`);
    const list = `unnest(${lists.join(", ")}) WITH ORDINALITY AS new (${columns.map(([name]) => name).join(", ")}, row_index)`;
    text = statement.text.replace(/(?<= FROM |, )new\b(?!\.)/, list);
    listStatements.set(statement, text);
  }
  return text;
}

function columnsOf({ columns }: ForEach, list: readonly Value[][]): Value[][] {
  return Object.keys(columns).map((_, index) => list.map((row) => cleaned(row[index])));
}
