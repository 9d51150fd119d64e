import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";

// Opens a store and never closes it. `busy`: begins a run, without waiting for it.
const [url = "", mode] = process.argv.slice(2);
const store = await openPostgresStore({ url, clock: systemClock });
writeSync(1, "open\n");
if (mode === "busy")
  void store
    .openRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, systemClock.now())
    .then(({ id }) => writeSync(1, `${id}\n`));
