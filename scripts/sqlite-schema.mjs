// node scripts/sqlite-schema.mjs: writes src/store/sqlite/newest-schema.ts, the schema that all migrations make. New
// files get it at once; migrations added later run on top, so it need not be written again with each.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";

const { SqliteConnection } = await import("../src/store/sqlite/connection.ts");
const { migrate, MIGRATIONS, schemaVersion } = await import("../src/store/sqlite/migrate.ts");

const folder = mkdtempSync(join(tmpdir(), "orb-schema-"));
const connection = new SqliteConnection(join(folder, "schema.db"));
// A list of its own is migrated step by step.
migrate(connection, [...MIGRATIONS]);
const version = schemaVersion(connection);
const rows = connection.db
  .prepare(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid",
  )
  .all();
const sequences = connection.db.prepare("SELECT name, seq FROM sqlite_sequence ORDER BY name").all();
connection.close();
rmSync(folder, { recursive: true, force: true });

const lines = rows.map(({ sql }) =>
  sql
    .replace(/--.*$/gm, "")
    .replace(/\s+/g, " ")
    .trim()
    .replaceAll("\\", "\\\\")
    .replaceAll("`", "\\`")
    .replaceAll("${", "\\${"),
);
const seeds = sequences.map(({ name, seq }) => `INSERT INTO sqlite_sequence VALUES ('${name}', ${seq})`);
const text = `/** Written by scripts/sqlite-schema.mjs: what the migrations up to this version make of an empty file. */
export const NEWEST_VERSION = ${version};

export const NEWEST_SCHEMA = \`
${[...lines, ...seeds].join(";\n")};
\`;
`;
writeFileSync(join(root, "src", "store", "sqlite", "newest-schema.ts"), text);
