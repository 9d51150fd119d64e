import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { DutiesDue } from "../../src/store/ports/duty-port.ts";
import { DueLook } from "../../src/supervisor/due-look.ts";
import { Duties, type Duty } from "../../src/supervisor/duties.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** Duties in two groups, as a process has them; each takes its own time. */
function dutiesTaking(clock: FakeClock, look: DueLook, takes: readonly number[][]) {
  const done = takes.flat().map(() => 0);
  let n = 0;
  const groups = takes.map(
    (group) =>
      new Duties({
        clock,
        log: silentLog,
        look,
        duties: group.map((ms): Duty => {
          const index = n++;
          const run = async (signal: AbortSignal) => {
            done[index] = (done[index] ?? 0) + 1;
            await sleep(clock, ms, signal);
          };
          return { name: `takes ${ms} ms`, everyMs: 500, looksFirst: true, run };
        }),
      }),
  );
  return { done, groups };
}

test("duties that take differently long still ask the store together what is due", async () => {
  const clock = new FakeClock();
  let looks = 0;
  const dutiesDue = async () => {
    looks += 1;
    return {} as DutiesDue;
  };
  const look = new DueLook({ clock, store: { dutiesDue } });
  const { done, groups } = dutiesTaking(clock, look, [
    [0, 130, 260],
    [10, 390],
  ]);
  for (const group of groups) group.start();
  await clock.advance(10_000);
  assert.equal(looks, 21, "once at the beginning, and twice a second");
  assert.deepEqual(done, [21, 21, 21, 21, 21]);
  const stopped = Promise.all(groups.map((group) => group.stop()));
  await clock.advance(500);
  await stopped;
  assert.equal(clock.waiting, 0);
});

test("a duty that takes longer than its rhythm is begun again at the next moment, and not twice", async () => {
  const clock = new FakeClock();
  const look = new DueLook({ clock, store: { dutiesDue: async () => ({}) as DutiesDue } });
  const { done, groups } = dutiesTaking(clock, look, [[600]]);
  for (const group of groups) group.start();
  await clock.advance(10_000);
  assert.deepEqual(done, [11], "every second moment");
  const stopped = Promise.all(groups.map((group) => group.stop()));
  await clock.advance(1000);
  await stopped;
});

test("a duty that follows others runs at once when a run has ended or another one left it work, ten times a second at most", async () => {
  const clock = new FakeClock();
  const look = new DueLook({ clock, store: { dutiesDue: async () => ({}) as DutiesDue } });
  const [ran, waits]: [number[], number[]] = [[], []];
  let leavesWork = false;
  const duties = new Duties({
    clock,
    log: silentLog,
    look,
    duties: [
      { name: "first", everyMs: 250, looksFirst: true, run: async () => leavesWork },
      {
        name: "follows",
        everyMs: 1000,
        looksFirst: true,
        follows: true,
        run: async () => void ran.push(clock.monotonic()),
      },
      { name: "waits", everyMs: 1000, looksFirst: true, run: async () => void waits.push(clock.monotonic()) },
    ],
  });
  duties.hurry();
  duties.start();
  await clock.advance(250);
  const before = ran.length;
  for (let ends = 0; ends < 50; ends += 1) {
    duties.hurry();
    await clock.advance(10);
  }
  assert.ok(ran.length - before >= 4 && ran.length - before <= 6, `${ran.length - before} times in half a second`);
  assert.equal(waits.length, 1, "the others keep their moments");
  await clock.advance(1050 - (clock.monotonic() % 1000));
  const quiet = ran.length;
  leavesWork = true;
  await clock.advance(600);
  assert.equal(ran.length - quiet, 2, "twice between two of its own moments");
  const stopped = duties.stop();
  await clock.advance(1000);
  await stopped;
  assert.equal(clock.waiting, 0);
});
