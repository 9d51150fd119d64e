import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import type { Strain } from "../../src/base/gauge.ts";
import { createLog, silentLog } from "../../src/base/log.ts";
import { LoadShedder } from "../../src/lanes/owner/load-shedder.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { NO_STRAIN, pages, Workshop } from "./workshop.ts";

const LATE: Strain = { lagMs: 900, memory: 0.1 };
const FULL: Strain = { lagMs: 0, memory: 0.95 };

/** A load shedder with a fake gauge, and its log. */
function process(most: number) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLog({ level: "info", pretty: false, write: (line) => void lines.push(JSON.parse(line).message) });
  const state = { strain: NO_STRAIN, reads: 0 };
  const read = () => {
    state.reads += 1;
    return state.strain;
  };
  const shedder = new LoadShedder({ clock, log, gauge: { read, stop: () => {} }, most });
  /** The limit after each measurement, when all slots are in use. */
  const over = async (strain: Strain, looks: number) => {
    state.strain = strain;
    const seen: number[] = [];
    let used = shedder.most(most);
    for (let look = 0; look < looks; look += 1) {
      await clock.advance(500);
      used = shedder.most(used);
      seen.push(used);
    }
    return seen;
  };
  return { clock, lines, state, shedder, over };
}

for (const [name, strain] of Object.entries({ "is late with everything": LATE, "is short of memory": FULL }))
  test(`a process that ${name} does fewer at once, step by step, never fewer than two, and says so once`, async () => {
    const { lines, over } = process(32);
    assert.deepEqual(await over(NO_STRAIN, 3), [32, 32, 32]);
    assert.deepEqual(await over(strain, 12), [24, 18, 13, 9, 6, 4, 3, 2, 2, 2, 2, 2]);
    assert.equal(lines.length, 1);
    const rising = await over(NO_STRAIN, 60);
    assert.deepEqual(rising.slice(0, 4), [3, 4, 5, 6]);
    assert.equal(rising.at(-1), 32);
    assert.deepEqual(lines, ["concurrency reduced: event loop lag or memory", "normal concurrency restored"]);
  });

test("between strained and calm it stays as it is", async () => {
  const { over } = process(32);
  await over(LATE, 2);
  assert.deepEqual(await over({ lagMs: 150, memory: 0.1 }, 3), [18, 18, 18]);
  assert.deepEqual(await over({ lagMs: 0, memory: 0.88 }, 3), [18, 18, 18]);
});

test("a limit that is far away is lowered to what is felt", async () => {
  const { clock, state, shedder } = process(1000);
  state.strain = LATE;
  await clock.advance(500);
  assert.equal(shedder.most(40), 30);
});

test("one at a time stays one at a time", async () => {
  const { lines, over } = process(1);
  assert.deepEqual(await over(LATE, 3), [1, 1, 1]);
  assert.deepEqual(lines, []);
});

test("it looks twice a second at most, and never when nobody asks", async () => {
  const { clock, state, shedder } = process(8);
  for (let asked = 0; asked < 1000; asked += 1) {
    await clock.advance(1);
    shedder.most(1);
  }
  assert.equal(state.reads, 2);
  await clock.advance(60_000);
  assert.equal(state.reads, 2);
});

test("whatever the strain, there are at least two and never more than are configured", async () => {
  const strain = fc.record({
    lagMs: fc.double({ min: 0, max: 5000, noNaN: true }),
    memory: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const clock = new FakeClock();
  fc.assert(
    fc.property(
      fc.array(fc.tuple(strain, fc.nat(200)), { maxLength: 100 }),
      fc.integer({ min: 1, max: 100 }),
      (looks, most) => {
        let now = NO_STRAIN;
        const gauge = { read: () => now, stop: () => {} };
        const shedder = new LoadShedder({ clock, log: silentLog, gauge, most });
        for (const [next, used] of looks) {
          now = next;
          clock.mono += 500;
          const allowed = shedder.most(used);
          assert.ok(Number.isInteger(allowed) && allowed >= Math.min(2, most) && allowed <= most, String(allowed));
        }
      },
    ),
  );
});

test("a worker under strain has fewer pages in flight, does all of them, and goes on as before when it is calm", async (t) => {
  let strain = NO_STRAIN;
  const shop = await Workshop.open(t, { maxWorkers: 16, latencyMs: 100, strain: () => strain });
  const sites = Array.from({ length: 8 }, (_, n) => pages(`s${n}.example`, 200)).flat();
  await shop.run(sites);
  const inFlight = () => [...shop.inFlight.values()].reduce((sum, one) => sum + one, 0);
  await shop.clock.until(() => shop.starts.length > 100);
  await shop.clock.until(() => inFlight() === 16);
  strain = LATE;
  await shop.clock.advance(8 * 500 + 1000);
  const seen: number[] = [];
  for (let step = 0; step < 40; step += 1) {
    await shop.clock.advance(50);
    seen.push(inFlight());
  }
  assert.ok(Math.max(...seen) <= 2 && seen.includes(2), `${Math.max(...seen)} in flight`);
  strain = NO_STRAIN;
  await shop.clock.until(() => inFlight() === 16);
  await shop.finish();
  assert.equal(shop.starts.length, 1600);
});

test("what waits because the process was strained is begun when it is calm, although nothing that is under way ends", async (t) => {
  let strain = LATE;
  const shop = await Workshop.open(t, { maxWorkers: 16, latencyMs: 600_000, strain: () => strain });
  await shop.clock.advance(1000);
  await shop.run(Array.from({ length: 6 }, (_, n) => pages(`s${n}.example`, 1)).flat());
  await shop.clock.advance(10_000);
  assert.equal(shop.starts.length, 2, "no more than two at once");
  strain = NO_STRAIN;
  await shop.clock.advance(20_000);
  assert.equal(shop.starts.length, 6);
});
