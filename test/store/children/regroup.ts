import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

// Puts the site into one group after another, until someone kills it.
const [path = "", site = ""] = process.argv.slice(2);

const store = openSqliteStore({ path, clock: systemClock });
writeSync(1, "ready\n");
await once(process.stdin, "data");
for (let turn = 1; ; turn += 1) {
  await store.setSite(site, { group: turn % 3 === 0 ? null : `g${turn % 3}`, maxConcurrency: turn });
  writeSync(1, `${turn}\n`);
}
