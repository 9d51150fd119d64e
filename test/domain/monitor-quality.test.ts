import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FULL } from "../support/gate.ts";
import { testSeed } from "../support/seed.ts";
import { changedPage, changePairs, noisePairs, type Score, START } from "./monitor-evaluation.ts";
import { CHANGE_FAMILIES, changedSitePage, NOISE_FAMILIES } from "./monitor-families.ts";
import { FURTHER_CHANGES, FURTHER_NOISE } from "./monitor-further-families.ts";
import { HELD_OUT_CHANGES, HELD_OUT_NOISE } from "./monitor-held-out.ts";
import { MORE_CHANGES, MORE_NOISE } from "./monitor-more-families.ts";
import { chance } from "./monitor-pairs.ts";

const NOISE = { ...NOISE_FAMILIES, ...MORE_NOISE, ...FURTHER_NOISE };
const CHANGES = { ...CHANGE_FAMILIES, ...MORE_CHANGES, ...FURTHER_CHANGES };

const PAIRS = FULL ? 1000 : 50;

/** How many of the pairs may be judged wrongly. */
function assertFew({ pairs, wrong }: Score, share: number, what: string): void {
  const list = wrong.slice(0, 10).join("\n\n");
  assert.ok(wrong.length <= pairs * share, `${wrong.length} of ${pairs} ${what}:\n${list}`);
}

describe("a monitor", () => {
  for (const [name, families, shift] of [
    ["noise of known kinds", NOISE, 0],
    ["noise of kinds that it was not tuned on", HELD_OUT_NOISE, 1],
  ] as const) {
    test(`calls at most 2 % of the pages changed that differ in ${name} alone [slow]`, () => {
      assertFew(noisePairs(chance(testSeed() + shift), families, { pairs: PAIRS }), 0.02, "are called changed");
    });
    for (const [changes, draw] of [
      ["a small change", changedPage(CHANGES)],
      ["a change of other kinds", changedPage(HELD_OUT_CHANGES)],
      [
        "a change of an article, a product, a programme, a table",
        (random: () => number) => changedSitePage(random, START),
      ],
    ] as const)
      test(`finds at least 99 % of the pages with ${changes} beside ${name} [slow]`, () => {
        const score = changePairs(chance(testSeed() + 2 + shift), families, draw, { pairs: PAIRS });
        assertFew(score, FULL ? 0.01 : 0.02, "are missed");
        assert.ok(Object.keys(score.kinds).length >= 5, "many kinds occur");
      });
  }
});
