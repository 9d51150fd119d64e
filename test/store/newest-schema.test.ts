import assert from "node:assert/strict";
import { test } from "node:test";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate, MIGRATIONS } from "../../src/store/sqlite/migrate.ts";
import { NEWEST_VERSION } from "../../src/store/sqlite/newest-schema.ts";

/** Tables, indexes and triggers by name, and the rows of all tables, but for what is random. */
function contentOf(connection: SqliteConnection): Record<string, unknown> {
  const { db } = connection;
  const parts = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").all();
  const tables = parts.filter(({ type }) => type === "table").map(({ name }) => String(name));
  const rows = tables.map((name) => {
    const list = db.prepare(`SELECT * FROM "${name}" ORDER BY 1`).all();
    return [name, list.map((row) => ({ ...row, ...(row["name"] === "instance" ? { value: "" } : {}) }))];
  });
  const columns = tables.map((name) => [name, db.prepare(`PRAGMA table_xinfo("${name}")`).all()]);
  const schema = parts.map(({ sql, ...part }) => ({ ...part, sql: plain(sql) }));
  return {
    schema,
    columns,
    rows,
    version: db.prepare("PRAGMA user_version").get(),
    application: db.prepare("PRAGMA application_id").get(),
  };
}

const plain = (sql: unknown) =>
  typeof sql === "string" ? sql.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim() : sql;

function migrated(migrations: typeof MIGRATIONS): Record<string, unknown> {
  const connection = new SqliteConnection(":memory:");
  try {
    const { from, applied } = migrate(connection, migrations);
    assert.equal(from, 0);
    assert.deepEqual(
      applied,
      MIGRATIONS.map(({ name }) => name),
    );
    return contentOf(connection);
  } finally {
    connection.close();
  }
}

test("a new database is what all migrations, one after the other, would have made of it", () => {
  assert.ok(MIGRATIONS.some(({ version }) => version === NEWEST_VERSION));
  assert.deepEqual(migrated(MIGRATIONS), migrated([...MIGRATIONS]));
});
