import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

// Sweeps what ended runs have left, a few tasks at a time, and says how many it were.
const [path = "", limit = "1"] = process.argv.slice(2);

const store = openSqliteStore({ path, clock: systemClock });
writeSync(1, "ready\n");
await once(process.stdin, "data");
for (let swept = 1; swept > 0;) {
  swept = await store.sweepEnded(Number(limit), systemClock.now());
  writeSync(1, `${swept}\n`);
}
await store.close();
process.exit(0);
