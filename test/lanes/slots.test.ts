import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots, type SlotSeeker } from "../../src/lanes/limits/slots.ts";

class Lane implements SlotSeeker {
  granted = 0;
  get slotsHeld(): number {
    return this.granted;
  }
  slotGranted(): void {
    this.granted += 1;
  }
}

test("slots are given until none is left, then to whoever waits longest", () => {
  const slots = new Slots(() => 2);
  const [a, b, c] = [new Lane(), new Lane(), new Lane()];
  assert.deepEqual([slots.take(a), slots.take(a), slots.take(b), slots.take(c)], [true, true, false, false]);
  assert.equal(slots.used, 2);
  slots.release();
  assert.deepEqual([b.granted, c.granted, slots.used], [1, 0, 2]);
  slots.release();
  assert.deepEqual([b.granted, c.granted, slots.used], [1, 1, 2]);
});

test("nobody overtakes those in line", () => {
  const slots = new Slots(() => 1);
  const [greedy, patient] = [new Lane(), new Lane()];
  slots.take(greedy);
  slots.take(patient);
  // The greedy lane ends one and asks for the next at once.
  slots.release();
  assert.equal(slots.take(greedy), false);
  assert.equal(patient.granted, 1);
});

test("asking twice is one place in line, and leaving it gives the turn to the next", () => {
  const slots = new Slots(() => 1);
  const [a, b] = [new Lane(), new Lane()];
  slots.take(new Lane());
  slots.take(a);
  slots.take(a);
  slots.take(b);
  slots.leaveLine(a);
  slots.release();
  assert.deepEqual([a.granted, b.granted], [0, 1]);
  slots.release();
  assert.equal(slots.used, 0);
});

test("with one slot and many lanes, each gets the same share", () => {
  const slots = new Slots(() => 1);
  const lanes = Array.from({ length: 5 }, () => new Lane());
  slots.take(new Lane());
  for (let turn = 0; turn < 50; turn += 1) {
    for (const lane of lanes) slots.take(lane);
    slots.release();
  }
  assert.deepEqual(
    lanes.map((lane) => lane.granted),
    [10, 10, 10, 10, 10],
  );
});

test("slots that end at the same moment go to the lanes that have the fewest, not to the first that asks", () => {
  const slots = new Slots(() => 30);
  const greedy = new Lane();
  for (let taken = 0; taken < 30; taken += 1) assert.ok(slots.take(greedy));
  const [b, c] = [new Lane(), new Lane()];
  slots.take(b, 10);
  slots.take(c, 10);
  for (let ended = 0; ended < 30; ended += 1) slots.release();
  assert.deepEqual([b.granted, c.granted, slots.used], [10, 10, 20]);
});

test("fewer slots than are in use are waited for, and more of them go to those in line at once", () => {
  let most = 4;
  const slots = new Slots(() => most);
  const [a, b, c] = [new Lane(), new Lane(), new Lane()];
  for (let taken = 0; taken < 4; taken += 1) slots.take(a);
  slots.take(b, 10);
  most = 2;
  slots.release();
  slots.release();
  assert.deepEqual([b.granted, slots.used], [0, 2], "what was too many is not given on");
  slots.release();
  assert.deepEqual([b.granted, slots.used], [1, 2]);
  most = 5;
  slots.take(c, 1);
  assert.deepEqual([b.granted, c.granted, slots.used], [3, 1, 5]);
});

test("whoever is in line hears of more slots, although nobody leaves; nothing is looked at while nobody waits", () => {
  let most = 1;
  const looks: (() => void)[] = [];
  const slots = new Slots(
    () => most,
    (look) => looks.push(look),
  );
  const [a, b, c] = [new Lane(), new Lane(), new Lane()];
  slots.take(a);
  assert.equal(looks.length, 0);
  slots.take(b);
  slots.take(c);
  assert.equal(looks.length, 1, "one look for all in line");
  looks.shift()!();
  assert.deepEqual([b.granted, c.granted, looks.length], [0, 0, 1]);
  most = 2;
  looks.shift()!();
  assert.deepEqual([b.granted, c.granted, looks.length], [1, 0, 1]);
  most = 3;
  looks.shift()!();
  assert.deepEqual([b.granted, c.granted, looks.length], [1, 1, 0]);
});
