import type { SealStore, StoredText } from "../../ports/seal-port.ts";
import { type Context, rows } from "./context.ts";

interface Table {
  kind: StoredText["kind"];
  table: string;
  /** An increasing number; null: few rows, read at once. */
  key: string | null;
  column: string;
  where: string;
  /** Numbers per batch. */
  span: number;
}

/** `://…@` occurs in every URL with credentials, and in few others. */
const hasUser = (column: string) => `${column} LIKE '%://%@%'`;

const TABLES: readonly Table[] = [
  { kind: "job", table: "jobs", key: "n", column: "recipe", where: "kind = 'workflow'", span: 100 },
  { kind: "template", table: "templates", key: null, column: "definition", where: "TRUE", span: 0 },
  { kind: "workflow", table: "workflow_snapshots", key: "run", column: "snapshot", where: "TRUE", span: 50 },
  { kind: "task_url", table: "tasks", key: "id", column: "url", where: hasUser("url"), span: 5000 },
  { kind: "task_payload", table: "tasks", key: "id", column: "payload", where: hasUser("payload"), span: 5000 },
  // Last, for databases that are through with the others: their versions began as copies of sealed jobs.
  { kind: "job_version", table: "job_versions", key: "n", column: "recipe", where: "kind = 'workflow'", span: 100 },
];

const PROGRESS_KEY = "sealed_until";
const DONE = "all";

export function sealStore(context: Context): SealStore {
  return {
    unsealedTexts: async () => unsealedTexts(context),
    sealTexts: async (changes, until) => sealTexts(context, changes, until),
  };
}

function unsealedTexts({ connection }: Context): Awaited<ReturnType<SealStore["unsealedTexts"]>> {
  const row = connection.sql("SELECT value FROM meta WHERE name = ?").get(PROGRESS_KEY) as
    | { value: string }
    | undefined;
  if (row?.value === DONE) return null;
  const [tableIndex = 0, from = 0] = (row?.value ?? "0 0").split(" ").map(Number);
  const entry = TABLES[tableIndex];
  if (entry === undefined) return { texts: [], until: DONE };
  const { kind, table, key, column, where, span } = entry;
  const next = tableIndex + 1 < TABLES.length ? `${tableIndex + 1} 0` : DONE;
  if (key === null) {
    const found = rows<{ name: string; version: number; text: string }>(
      connection.sql(`SELECT name, version, ${column} AS text FROM ${table} WHERE ${where}`).all(),
    );
    return { texts: found.map(({ name, version, text }) => ({ kind, row: [name, version], text })), until: next };
  }
  // Removed rows may leave large gaps.
  const bounds = connection
    .sql(`SELECT min(${key}) AS first, (SELECT max(${key}) FROM ${table}) AS last FROM ${table} WHERE ${key} > ?`)
    .get(from) as { first: number | null; last: number | null };
  if (bounds.first === null || bounds.last === null) return { texts: [], until: next };
  const last = Number(bounds.first) + span - 1;
  const found = rows<{ key: number; text: string }>(
    connection
      .sql(`SELECT ${key} AS key, ${column} AS text FROM ${table} WHERE ${key} > ? AND ${key} <= ? AND ${where}`)
      .all(from, last),
  );
  return {
    texts: found.map((row) => ({ kind, row: [Number(row.key)], text: row.text })),
    until: last >= Number(bounds.last) ? next : `${tableIndex} ${last}`,
  };
}

function sealTexts({ connection }: Context, changes: Parameters<SealStore["sealTexts"]>[0], until: string): void {
  connection.write(
    () => {
      for (const { was, text } of changes) {
        const { table, key, column } = TABLES.find(({ kind }) => kind === was.kind)!;
        const isRow = key === null ? "name = ? AND version = ?" : `${key} = ?`;
        connection
          .sql(`UPDATE ${table} SET ${column} = ? WHERE ${isRow} AND ${column} = ?`)
          .run(text, ...was.row, was.text);
      }
      connection
        .sql("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        .run(PROGRESS_KEY, until);
    },
    { durable: true },
  );
}
