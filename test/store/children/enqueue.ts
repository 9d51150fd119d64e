import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { newTask } from "../../contract/store/kit.ts";

// Adds the keys from..to-1 in batches, and says how many of them were new.
const [path = "", runId = "", from = "0", to = "0", batch = "50"] = process.argv.slice(2);

const store = openSqliteStore({ path, clock: systemClock });
writeSync(1, "ready\n");
await once(process.stdin, "data");
let added = 0;
for (let first = Number(from); first < Number(to); first += Number(batch)) {
  const count = Math.min(Number(batch), Number(to) - first);
  const tasks = Array.from({ length: count }, (_, index) =>
    newTask(`k${first + index}`, { lane: `site:s${(first + index) % 3}.example` }),
  );
  added += (await store.enqueue(runId, tasks, systemClock.now())).added;
}
writeSync(1, `${added}\n`);
await store.close();
process.exit(0);
