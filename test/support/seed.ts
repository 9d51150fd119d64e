import { randomInt } from "node:crypto";

/** Every machine draws the same cases, so that what fails is a fault of the change under test. */
const FIXED_SEED = 20_261_117;

/**
 * The seed of all that tests draw by chance. `ORB_TEST_SEED=7` repeats a run, `ORB_TEST_SEED=random` draws other cases; so do the soak
 * and tests at full size. A failure names its seed.
 */
export function testSeed(env: NodeJS.ProcessEnv = process.env): number {
  const given = env["ORB_TEST_SEED"] ?? (env["ORB_TEST_FULL"] === undefined ? String(FIXED_SEED) : "random");
  if (given === "random") return randomInt(2 ** 31);
  const seed = Number(given);
  if (!Number.isInteger(seed)) throw new Error(`ORB_TEST_SEED: expected a whole number or random, not ${given}`);
  return seed;
}
