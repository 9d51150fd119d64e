import { isOrbError, messageOf } from "../../base/errors.ts";
import type { Connection, Dialect, ForEach } from "../sql/kernel/connection.ts";
import { STATE, toJson } from "../sql/kernel/context.ts";
import { storeError } from "./errors.ts";

const INSERT_TASK = `INSERT INTO tasks (stream, state, priority, created_at, key_hash, key, url, handler, payload)
  VALUES (?, ${STATE.queued}, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key_hash) DO NOTHING`;

/** Row by row: a statement costs some microseconds, less than passing many rows at once. */
export const sqliteDialect: Dialect = {
  each(connection, statement, list) {
    if (list.length === 0) return;
    const perRow = connection.sql(rowStatement(statement));
    for (const row of list) perRow.run(...row);
  },

  eachChanged(connection, statement, list) {
    if (list.length === 0) return [];
    const perRow = connection.sql(rowStatement(statement));
    return list.map((row) => perRow.run(...row).changes === 1);
  },

  eachFirst(connection, statement, list) {
    if (list.length === 0) return [];
    const perRow = connection.sql(rowStatement(statement));
    return list.map((row) => perRow.get(...row));
  },

  lookUp: (connection, statement, list) => () => sqliteDialect.eachFirst(connection, statement, list),

  ask: (connection, list) => () => sqliteDialect.firsts(connection, list),

  firsts: (connection, list) => list.map(({ text, values }) => connection.sql(text).get(...values)),

  lists: (connection, list) =>
    list.map(({ text, values, lists = false }) => connection.sql(text, { lists }).all(...values)),

  // One writer at a time.
  isShared: false,
  forUpdate: "",
  forKeyShare: "",
  unlessLocked: "",
  lockRuns: () => Object.assign(() => true, { missed: () => false }),
  lockName: () => {},
  lockNames: () => () => new Set(),

  clock: "(SELECT coalesce(max(n), 0) FROM events)",
  // The event of what ticks is written just before.
  tick: "(SELECT coalesce(max(n), 0) FROM events)",

  nextNumber(connection, table) {
    const last = connection.sql("SELECT seq FROM sqlite_sequence WHERE name = ?").get(table);
    return Number(last?.["seq"] ?? 0) + 1;
  },

  foreignVersion: (connection) => Number(connection.sql("PRAGMA data_version").get()?.["data_version"]),

  insertTasks(connection, list, now) {
    const insert = connection.sql(INSERT_TASK);
    return list.map(({ target, hash, task }) => {
      const { key, url, handler, priority, payload } = task;
      const done = insert.run(target.stream, priority, now, hash, key, url, handler, toJson(payload));
      return done.changes === 1 ? Number((done as { lastInsertRowid?: number | bigint }).lastInsertRowid) : null;
    });
  },

  tasksAmong: (connection) => has(connection, "SELECT 1 FROM tasks WHERE key_hash = ?"),

  aliasesAmong(connection, run) {
    const find = connection.sql("SELECT 1 FROM page_aliases WHERE run = ? AND key_hash = ?");
    return (hash) => find.get(run, hash) !== undefined;
  },

  // In-process: a crash of the process loses nothing that was committed.
  outliveCrash: () => {},

  bytes(connection) {
    const pages = (name: string) => Number(Object.values(connection.sql(`PRAGMA ${name}`).get() ?? {})[0]);
    return (pages("page_count") - pages("freelist_count")) * pages("page_size");
  },

  damage(connection) {
    try {
      return (connection.sql("PRAGMA quick_check").all() as { quick_check: string }[])
        .map((row) => row.quick_check)
        .filter((text) => text !== "ok");
    } catch (error) {
      // Some corruption makes the check itself fail, which is the same finding.
      if (isOrbError(storeError(error), "database_unavailable")) return [messageOf(error)];
      throw error;
    }
  },

  probe(connection) {
    connection
      .sql("INSERT INTO meta VALUES ('probe', hex(zeroblob(4096))) ON CONFLICT DO UPDATE SET value = excluded.value")
      .run();
    connection.sql("DELETE FROM meta WHERE name = 'probe'").run();
  },
};

function has(connection: Connection, text: string): (hash: Uint8Array) => boolean {
  const find = connection.sql(text);
  return (hash) => find.get(hash) !== undefined;
}

const rowStatements = new Map<ForEach, string>();

/** Replaces the list `new` by the parameters of one row. */
function rowStatement(statement: ForEach): string {
  let text = rowStatements.get(statement);
  if (text === undefined) {
    const names = Object.keys(statement.columns);
    text = statement.text
      // Plain VALUES: SQLite runs no query for it.
      .replace(/SELECT (new\.[^()]*) FROM new ORDER BY new\.row_index$/, "VALUES ($1)")
      .replaceAll(/ FROM new\b|, new\b(?!\.)| ORDER BY new\.row_index\b/g, "")
      .replaceAll(/\bnew\.(\w+)/g, (_, name: string) => (name === "row_index" ? "0" : `?${names.indexOf(name) + 1}`));
    rowStatements.set(statement, text);
  }
  return text;
}
