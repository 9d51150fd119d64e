import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { integerBelow, type Random, seededRandom } from "../../src/base/random.ts";
import { testSeed } from "../support/seed.ts";
import { type Ended, FULL, type Orb } from "./orb.ts";
import type { Target } from "./target.ts";

/** Maximum cost of one kill: the largest window a lane owner claims. */
export const WINDOW = 256;
/** Work must resume this long after a start at the latest; a busy machine is slower. */
const RESUME_MS = FULL ? 10_000 : 120_000;
/** Leases outlast the test: a successor must detect that the process is dead. */
export const OWNED_FOR_LONG = { APP_LEASE_TTL_SECONDS: "3600" };

/** The seed repeats the choices of a failed run, but not its timing. */
export function chance(): { seed: number; random: Random } {
  const seed = testSeed();
  return { seed, random: seededRandom(seed) };
}

/** Says which seed it was when the test fails. */
export async function withSeed(work: (random: Random) => Promise<void>): Promise<void> {
  const { seed, random } = chance();
  try {
    await work(random);
  } catch (error) {
    throw new Error(`with ORB_TEST_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * Works on the queue and kills the process again and again: after a random number of requests, or while it starts.
 * The kills are spread over the work, so that all of them meet an unfinished queue.
 */
export async function drainThroughKills(
  orb: Orb,
  target: Target,
  options: { kills: number; requests: number; random: Random },
): Promise<{ slowestResumeMs: number; last: Ended }> {
  const { random, kills } = options;
  Object.assign(orb.env, OWNED_FOR_LONG);
  const share = Math.max(1, Math.floor((options.requests * 0.8) / kills));
  let slowestResumeMs = 0;
  const resumed = async (started: number) => {
    const first = await target.next("work goes on after a start");
    slowestResumeMs = Math.max(slowestResumeMs, first.start - started);
  };
  for (let kill = 0; kill < kills; kill += 1) {
    const started = Date.now();
    const engine = orb.start(["queue", "run", "--drain"]);
    if (random.next() < 0.15) {
      await pause(random.next() * 600);
    } else {
      await resumed(started);
      // Within this kill's own share of the requests, so that a fifth of the work is left after the last one.
      const goal = kill * share + integerBelow(random, share);
      await target.when(() => target.hits.length >= goal || !engine.alive, "more requests come");
      await pause(random.next() * 20);
    }
    assert.ok(engine.alive, `the queue lasts until kill ${kill + 1} of ${kills}: ${engine.story()}`);
    const { signal } = await engine.killed();
    assert.equal(signal, "SIGKILL");
    await target.when(() => target.open === 0, "the dead process's connections are gone");
  }
  const started = Date.now();
  const engine = orb.start(["queue", "run", "--drain"]);
  await resumed(started);
  const last = await engine.end(FOR_THE_REST_MS);
  assert.ok(slowestResumeMs <= RESUME_MS, `work went on ${slowestResumeMs} ms after a start`);
  return { slowestResumeMs, last };
}

const FOR_THE_REST_MS = 250_000;

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** SQLite's own, full check. */
export function assertSound(database: string): void {
  const db = new DatabaseSync(database, { readOnly: true });
  try {
    assert.deepEqual({ ...db.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  } finally {
    db.close();
  }
}
