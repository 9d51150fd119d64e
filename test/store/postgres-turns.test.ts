import assert from "node:assert/strict";
import { test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import type { Turn } from "../../src/store/ports/claim-port.ts";
import type { LaneHold } from "../../src/store/ports/port.ts";
import { inTurns, type StoreCall } from "../../src/store/postgres/turns.ts";

const hold = (laneId: number): LaneHold => ({ laneId, epoch: 1, owner: "worker" });
const CLAIM = { tasks: [], more: false, nextReadyAt: null };

/** A database in which the runs of some lanes are locked, and what was asked of it. */
function database(isLocked: (laneId: number) => boolean) {
  let now = 0;
  const asked: { laneId: number; turn: Turn; isPatient: boolean }[] = [];
  const call: StoreCall = async (method, args, isPatient = false) => {
    assert.equal(method, "claim");
    const [{ laneId }, { turn }] = args as [LaneHold, { turn: Turn }];
    asked.push({ laneId, turn, isPatient });
    await Promise.resolve();
    if (!isLocked(laneId)) return CLAIM;
    if (turn === "try") return { ...CLAIM, more: true, busy: true };
    now += turn.waitMs;
    throw new OrbError("database_busy", "locked for too long");
  };
  const { claim } = inTurns(call, { monotonic: () => now }, 2);
  return {
    asked,
    claim: (laneId: number) => claim(hold(laneId), { limit: 1 }, 0),
    pass: (ms: number) => (now += ms),
    now: () => now,
  };
}

test("claims wait a little for a locked run, and leave it out when it stays locked", async () => {
  const { asked, claim } = database(() => true);
  assert.equal((await claim(1))?.busy, true);
  assert.deepEqual(asked, [
    { laneId: 1, turn: { waitMs: 250 }, isPatient: false },
    { laneId: 1, turn: "try", isPatient: false },
    { laneId: 1, turn: { waitMs: 250 }, isPatient: true },
  ]);
});

test("a run that stays locked holds up the claims of its many lanes once, not one after the other", async () => {
  const { asked, claim, pass, now } = database((laneId) => laneId < 200);
  const claims = await Promise.all(Array.from({ length: 201 }, (_, laneId) => claim(laneId)));
  assert.deepEqual(
    claims.map((one) => one?.busy === true),
    claims.map((_, laneId) => laneId < 200),
  );
  const waited = () => asked.filter(({ turn, isPatient }) => turn !== "try" && !isPatient).length;
  // Two at once, and again after five seconds.
  const most = 2 * (1 + now() / 5000);
  assert.ok(waited() <= most, `${waited()} claims waited on connections that others need within ${now()} ms`);
  assert.ok(waited() < 50);
  asked.length = 0;
  pass(6000);
  await claim(3);
  assert.equal(waited(), 1, "once in a while it is waited for again");
});

test("of the claims that find nothing but a locked run, one at a time waits elsewhere, longer each time", async () => {
  const { asked, claim } = database(() => true);
  for (let times = 0; times < 5; times += 1) await Promise.all([claim(1), claim(2), claim(3)]);
  const patient = asked.filter(({ isPatient }) => isPatient).map(({ turn }) => (turn as { waitMs: number }).waitMs);
  assert.ok(patient.length < 15 && patient.length >= 5);
  assert.deepEqual(patient.slice(0, 5), [250, 500, 1000, 2000, 2000]);
});
