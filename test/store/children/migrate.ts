import { writeSync } from "node:fs";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { migrate } from "../../../src/store/sqlite/migrate.ts";
import { fixtureMigrations } from "./fixture-migrations.ts";

// Migrates a file, and stands still in the middle of the given migration until someone kills it.
const [path = "", stopIn = "0"] = process.argv.slice(2);

writeSync(1, "ready\n");
const connection = new SqliteConnection(path);
migrate(
  connection,
  fixtureMigrations((version) => {
    if (version !== Number(stopIn)) return;
    writeSync(1, "inside\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }),
);
connection.close();
writeSync(1, "done\n");
