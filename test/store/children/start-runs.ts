import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { newTask } from "../../contract/store/kit.ts";

// Starts a run of three tasks under each of so many keys, and says the run's id when it is durable.
const [path = "", count = "0"] = process.argv.slice(2);

const store = openSqliteStore({ path, clock: systemClock });
writeSync(1, "ready\n");
await once(process.stdin, "data");
for (let n = 0; n < Number(count); n += 1) {
  const tasks = ["a", "b", "c"].map((key, index) => newTask(key, { lane: `site:s${index % 2}.example` }));
  const { created, lanes, replayed } = await store.startRun(
    { kind: "page", name: `run ${n}`, maxAttempts: 3, snapshot: { n, filler: "x".repeat(500) } },
    tasks,
    systemClock.now(),
    { key: `key-${n}`, fingerprint: `print-${n}` },
  );
  writeSync(1, `${created.id} ${replayed ? "again" : "new"} ${lanes.length}\n`);
}
await store.close();
process.exit(0);
