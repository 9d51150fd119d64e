import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { evenLaneShare, LANE_SLICE_MS, laneShare, shouldYieldLane } from "../../src/domain/lane/lane-share.ts";

test("shares have room for every lane, and an even one is as small as that allows", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 0, max: 100_000 }), (owners, openLanes) => {
      const share = laneShare({ owners, openLanes });
      // One that gives a lane back finds room elsewhere, even when all others hold their even part.
      assert.ok(share * owners >= openLanes + owners);
      const even = evenLaneShare({ owners, openLanes });
      assert.ok(even * owners >= openLanes && even <= share);
      assert.ok(even === 1 || (even - 1) * owners < openLanes);
    }),
  );
});

test("whoever asks before anybody has joined gets everything, and not a division by nothing", () => {
  assert.deepEqual([evenLaneShare({ owners: 0, openLanes: 7 }), laneShare({ owners: 0, openLanes: 7 })], [7, 8]);
  assert.deepEqual([evenLaneShare({ owners: 3, openLanes: 0 }), laneShare({ owners: 3, openLanes: 0 })], [1, 1]);
});

test("a lane is given back after its slice, when others wait or its process holds too many", () => {
  const turn = { forMs: LANE_SLICE_MS, held: 4, most: 4, othersWait: true };
  assert.equal(shouldYieldLane(turn), true);
  assert.equal(shouldYieldLane({ ...turn, forMs: LANE_SLICE_MS - 1 }), false);
  assert.equal(shouldYieldLane({ ...turn, othersWait: false }), false);
  // There is room for one more: nobody has to go.
  assert.equal(shouldYieldLane({ ...turn, held: 3 }), false);
  assert.equal(shouldYieldLane({ ...turn, held: 5, othersWait: false }), true);
});
