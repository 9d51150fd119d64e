import { writeSync } from "node:fs";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { migrate, MIGRATIONS } from "../../../src/store/sqlite/migrate.ts";

// Does all of the second migration, and stands still before it is written, until someone kills it.
const [path = ""] = process.argv.slice(2);

const second = MIGRATIONS.find(({ version }) => version === 2);
migrate(
  new SqliteConnection(path),
  MIGRATIONS.map((migration) => ({
    ...migration,
    up(db) {
      migration.up(db);
      if (migration.version !== second?.version) return;
      writeSync(1, "inside\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    },
  })),
);
