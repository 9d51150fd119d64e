import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { systemClock } from "../../../src/base/clock.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

// Opens, and so makes or migrates, each store whose path it is told.
writeSync(1, "ready\n");
for await (const path of createInterface({ input: process.stdin })) {
  const store = openSqliteStore({ path, clock: systemClock });
  writeSync(1, `${store.instance}\n`);
  await store.close();
}
