import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import type { Store } from "../../../src/store/ports/port.ts";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

// Restores the first version of a job, and stops for good between two statements if it is told so.
const [path = "", where = ""] = process.argv.slice(2);

class Stopping extends SqliteConnection {
  override sql(text: string) {
    if (where !== "" && text.includes(where)) {
      writeSync(1, "stopped\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return super.sql(text);
  }
}

const store: Store = openSqliteStore({ path, clock: systemClock, connection: new Stopping(path) });
const [job] = await store.jobs({ limit: 1 });
const { definition } = (await store.jobVersion(job!.id, 1))!;
writeSync(1, "ready\n");
await once(process.stdin, "data");
await store.updateJob(job!.id, definition, systemClock.now(), undefined, { author: "cli", restored: 1 });
writeSync(1, "done\n");
await store.close();
process.exit(0);
