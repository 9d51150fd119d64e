import { once } from "node:events";
import { writeSync } from "node:fs";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";

// Holds the write lock of a database until it is told to let go.
const [path = ""] = process.argv.slice(2);

const connection = new SqliteConnection(path);
connection.db.exec("BEGIN IMMEDIATE");
writeSync(1, "locked\n");
await once(process.stdin, "data");
connection.db.exec("ROLLBACK");
writeSync(1, "released\n");
connection.close();
process.exit(0);
