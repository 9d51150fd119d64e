import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { ProfileBuilder } from "../../../src/domain/health/profile.ts";
import type { Store } from "../../../src/store/ports/port.ts";
import { SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

// Accepts the repair of a job, by a person or automatically, and stops for good between two statements if it is told so.
const [path = "", how = "", where = ""] = process.argv.slice(2);

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
const repair = (await store.repair(job!.id))!;
const run = (await store.run(repair.runId))!;
const [result] = await store.results(run.id, { limit: 1 });
const records = Array.from({ length: 100 }, (_, n) => ({ price: `€ ${n}` }));
const builder = new ProfileBuilder();
for (const record of records) builder.add(record, "t", null);
const recipe = { ...(job!.recipe as object), fields: { price: ".amount" } };
const reread = {
  generation: run.generation,
  snapshot: { ...(run.snapshot as object), recipe },
  profile: builder.profile(),
  tasks: [{ taskId: result!.taskId, records }],
  missing: 0,
};
const rules = { before: "rules-1", after: "rules-2" };
writeSync(1, "ready\n");
await once(process.stdin, "data");
const { runId, version, proposal } = repair;
if (how !== "automatic")
  await store.acceptRepair(
    job!.id,
    repair.number,
    { recipe, rules, reread: how === "reread" ? reread : null },
    systemClock.now(),
  );
else
  await store.recordRepair(
    job!.id,
    { runId, version, proposal, state: "open" },
    { deliver: false, effect: { recipe, rules, reread } },
    systemClock.now(),
  );
writeSync(1, "done\n");
await store.close();
process.exit(0);
