import { once } from "node:events";
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import type { ClaimedTask, SettledTask } from "../../../src/store/ports/port.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { attempt, candidate, DONE, evidence, FAILED, LANE, retryAt, TTL } from "../../contract/store/kit.ts";

// Works on the lane as its owner until someone kills it: every attempt reports, and says so in the run's log.
const [path = ""] = process.argv.slice(2);

const store = openSqliteStore({ path, clock: systemClock });
await store.takeEngine(candidate("child"), TTL, (await store.engineHolder())?.id);
const lane = await store.takeLane(LANE, "child", TTL);
if (lane === null) throw new Error("the lane is not to be had");

function settled(task: ClaimedTask): SettledTask {
  const number = task.attempts.length + 1;
  // Some pages are had at once, some never, most go on and on.
  const kind = task.row % 10;
  const verdict = kind === 0 ? DONE : kind === 1 && number > 2 ? FAILED : retryAt(0);
  return {
    task,
    verdict,
    attempt: attempt(number),
    report: {
      memory: { attempts: number },
      evidence: [evidence("a"), evidence("b")].slice(0, 1 + (number % 2)),
      run: {
        events: [{ type: "strategy.resolved", level: "info", message: `Tried ${number}`, meta: {} }],
        facts: { attempt: number },
      },
    },
  };
}

writeSync(1, "ready\n");
await once(process.stdin, "data");
for (;;) {
  const claim = await store.claim(lane, { limit: 7 }, systemClock.now());
  await store.settle([{ hold: lane, tasks: (claim?.tasks ?? []).map(settled) }], systemClock.now());
  writeSync(1, "settled\n");
}
