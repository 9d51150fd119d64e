import { once } from "node:events";
import { writeSync } from "node:fs";
import { createArtifactStore } from "../../../src/artifacts/store.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import type { Seal } from "../../../src/base/seal.ts";
import { fixtureWriter } from "../../../src/lanes/handlers/fixtures.ts";
import type { Store } from "../../../src/store/ports/port.ts";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { compareMonitoredRuns } from "../../../src/supervisor/duties/compare-monitored-runs.ts";
import { profileEndedRuns } from "../../../src/supervisor/duties/profile-ended-runs.ts";

// Compares the pages of ended runs, and stops for good at the given occurrence of a statement.
const [path = "", files = "", where = "", nth = "1"] = process.argv.slice(2);

let left = Number(nth);

function stop(): void {
  writeSync(1, "stopped\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

class Stopping extends SqliteConnection {
  override sql(text: string) {
    if (where !== "" && text.includes(where) && --left === 0) stop();
    return super.sql(text);
  }
}

const store: Store = openSqliteStore({ path, clock: systemClock, connection: new Stopping(path) });
const artifacts = createArtifactStore({ dir: files, clock: systemClock });
const log = createLog({ level: "error", pretty: false, write: () => {} });
const signal = new AbortController().signal;
writeSync(1, "ready\n");
await once(process.stdin, "data");
await profileEndedRuns({ store, clock: systemClock, wake: async () => {}, log, deliver: false }).run(signal);
await compareMonitoredRuns({
  store,
  clock: systemClock,
  // Nothing of this test is sealed.
  seal: null as unknown as Seal,
  log,
  openArtifact: (hash) => artifacts.open(hash),
  keepFile: fixtureWriter(store, artifacts, log),
  deliver: false,
}).run(signal);
writeSync(1, "done\n");
await store.close();
process.exit(0);
