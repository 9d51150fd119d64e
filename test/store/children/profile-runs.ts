import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import type { Store } from "../../../src/store/ports/port.ts";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { profileEndedRuns } from "../../../src/supervisor/duties/profile-ended-runs.ts";

// Profiles ended runs, and stops for good where it is told to: before it writes, or between two statements.
const [path = "", where = ""] = process.argv.slice(2);

function stop(): void {
  writeSync(1, "stopped\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

class Stopping extends SqliteConnection {
  override sql(text: string) {
    if (text.includes(where) && where !== "") stop();
    return super.sql(text);
  }
}

const store: Store = openSqliteStore({ path, clock: systemClock, connection: new Stopping(path) });
const log = createLog({ level: "error", pretty: false, write: () => {} });
writeSync(1, "ready\n");
await once(process.stdin, "data");
await profileEndedRuns({ store, clock: systemClock, wake: async () => {}, log, deliver: false }).run(
  new AbortController().signal,
);
writeSync(1, "done\n");
await store.close();
process.exit(0);
