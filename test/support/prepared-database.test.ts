import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { preparedInMemory, makeDatabase } from "./prepared-database.ts";
import { tempDir } from "./temp-dir.ts";

/** All that there is in a database, but for the name of the installation. */
function contentOf({ db }: SqliteConnection): unknown {
  const schema = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
  const rows = tables.map((name) => db.prepare(`SELECT * FROM "${name}"`).all());
  const pragmas = ["application_id", "user_version"].map((name) => db.prepare(`PRAGMA ${name}`).get());
  return JSON.parse(JSON.stringify({ schema, rows, pragmas }).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<instance>"));
}

test("databases that are copied for tests are those that the migrations make, each with a name of its own", () => {
  using folder = tempDir();
  const [real, copy, other] = ["real", "copy", "other"].map((name) => join(folder.path, `${name}.db`)) as [
    string,
    string,
    string,
  ];
  for (const path of [copy, other]) makeDatabase(path);
  const connections = [real, copy, other].map((path) => new SqliteConnection(path)).concat(preparedInMemory());
  migrate(connections[0]!);
  const wanted = contentOf(connections[0]!);
  for (const connection of connections) {
    assert.deepEqual(contentOf(connection), wanted);
    assert.deepEqual(migrate(connection).applied, [], "there is nothing to do");
  }
  const names = connections.map(
    ({ db }) => db.prepare("SELECT value FROM meta WHERE name = 'instance'").get()!["value"],
  );
  assert.equal(new Set(names).size, connections.length);
  for (const connection of connections) connection.close();
});
