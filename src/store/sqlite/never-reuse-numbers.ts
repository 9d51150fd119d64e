import type { DatabaseSync } from "node:sqlite";

/**
 * SQLite reuses the number of a removed last row. AUTOINCREMENT prevents that, but cannot be added to a table: this
 * recreates it, with its indexes and triggers.
 */
export function neverReuseNumbers(db: DatabaseSync, table: string, key: string): void {
  const parts = db.prepare("SELECT type, sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL").all(table) as {
    type: string;
    sql: string;
  }[];
  const old = parts.find(({ type }) => type === "table")?.sql ?? "";
  const newTable = old
    .replace(new RegExp(`^CREATE TABLE "?${table}"?`), `CREATE TABLE ${table}_new`)
    .replace(`${key} INTEGER PRIMARY KEY`, `${key} INTEGER PRIMARY KEY AUTOINCREMENT`);
  db.exec(newTable);
  db.exec(`INSERT INTO ${table}_new SELECT * FROM ${table} ORDER BY ${key}`);
  db.exec(`DROP TABLE ${table}`);
  db.exec(`ALTER TABLE ${table}_new RENAME TO ${table}`);
  for (const { type, sql } of parts) if (type !== "table") db.exec(sql);
}
