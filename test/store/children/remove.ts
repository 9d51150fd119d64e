import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

// Removes what was hidden, a few rows at a time, and says how many it were.
const [path = "", limit = "1"] = process.argv.slice(2);

const store = openSqliteStore({ path, clock: systemClock });
writeSync(1, "ready\n");
await once(process.stdin, "data");
for (let removed = 1; removed > 0;) {
  removed = await store.removeExpired(Number(limit));
  writeSync(1, `${removed}\n`);
}
await store.close();
process.exit(0);
