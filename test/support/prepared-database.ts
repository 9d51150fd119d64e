import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { tempDir } from "./temp-dir.ts";

interface Template {
  bytes: Buffer;
  /** What makes the same in another database. */
  statements: string;
  /** Where the name of the installation stands in it. */
  instanceAt: number;
}

let template: Template | null = null;

/**
 * Puts an empty database there as the first start would have left it. All migrations take longer than most tests, and are
 * the same for each: they are made once per process, and every copy gets a name of its own as an installation.
 */
export function makeDatabase(path: string): void {
  template ??= makeTemplate();
  const bytes = Buffer.from(template.bytes);
  bytes.write(randomUUID(), template.instanceAt, "latin1");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/** The same in memory, for `openSqliteStore`. */
export function preparedInMemory(): SqliteConnection {
  template ??= makeTemplate();
  const connection = new SqliteConnection(":memory:");
  connection.db.exec(template.statements);
  connection.db.prepare("UPDATE meta SET value = ? WHERE name = 'instance'").run(randomUUID());
  return connection;
}

function makeTemplate(): Template {
  using folder = tempDir();
  const path = join(folder.path, "template.db");
  const connection = new SqliteConnection(path);
  migrate(connection);
  const { value } = connection.sql("SELECT value FROM meta WHERE name = 'instance'").get() as { value: string };
  const statements = statementsOf(connection);
  connection.close();
  const bytes = readFileSync(path);
  const instanceAt = bytes.indexOf(value, 0, "latin1");
  if (instanceAt === -1 || bytes.indexOf(value, instanceAt + 1, "latin1") !== -1)
    throw new Error("the name of the installation stands once in an empty database");
  return { bytes, statements, instanceAt };
}

/** Tables first, then what belongs to them; triggers last, so that the first rows meet none. */
const ORDER = ["table", "rows", "index", "view", "trigger"];

function statementsOf({ db }: SqliteConnection): string {
  const made = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  const parts = made.map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }));
  const tables = parts.filter(({ type }) => type === "table");
  const rows = tables.flatMap(({ name }) => {
    const all = db.prepare(`SELECT * FROM "${name}"`).all();
    return all.map((row) => ({
      type: "rows",
      sql: `INSERT INTO "${name}" VALUES (${Object.values(row).map(literal)})`,
    }));
  });
  const pragmas = ["application_id", "user_version"].map((name) => {
    return `PRAGMA ${name} = ${Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]}`;
  });
  const list = [...parts.filter(({ name }) => !name.startsWith("sqlite_")), ...rows]
    .toSorted((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type))
    .map(({ sql }) => sql);
  return ["BEGIN", ...list, ...pragmas, "COMMIT"].join(";\n");
}

function literal(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return `x'${Buffer.from(value as Uint8Array).toString("hex")}'`;
}
