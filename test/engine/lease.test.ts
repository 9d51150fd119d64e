import assert from "node:assert/strict";
import { test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { Lease } from "../../src/engine/lease.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** A lease whose turn to join comes late, so that it is renewed before it is used. */
async function obtain(heartbeat: () => Promise<Set<number> | null>, leave: () => Promise<void> = async () => {}) {
  const clock = new FakeClock();
  const left: string[] = [];
  const store = {
    heartbeat,
    leaveOwners: async (owner: string) => {
      left.push(owner);
      await leave();
    },
  } as unknown as Store;
  const lease = new Lease({ store, clock, log: silentLog, ttlMs: 15_000, heartbeatMs: 5000 });
  const error = await lease
    .obtain("w", async () => void (await clock.advance(6000)))
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  return { error, left };
}

const CUT = new OrbError("database_unavailable", "the line was cut");

test("who joined and could not renew its lease leaves no owner behind", async () => {
  const failed = await obtain(() => Promise.reject(CUT));
  assert.equal(failed.error, CUT);
  assert.deepEqual(failed.left, ["w"]);
  const late = await obtain(async () => null);
  assert.match(String(late.error), /the lease ended before it could be used/);
  assert.deepEqual(late.left, ["w"]);
});

test("the first error is told, also if the owner cannot be removed", async () => {
  const { error } = await obtain(
    () => Promise.reject(CUT),
    () => Promise.reject(new Error("nor this")),
  );
  assert.equal(error, CUT);
});

test("who could renew its lease stays", async () => {
  assert.deepEqual(await obtain(async () => new Set()), { error: null, left: [] });
});
