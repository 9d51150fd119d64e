import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "../support/properties.ts";
import { systemClock } from "../../src/base/clock.ts";
import { type Candidate, findNearDuplicates } from "../../src/images/duplicates.ts";
import { hashDistance, isHash, MOST_DISTANCE, NearIndex } from "../../src/images/near.ts";

const anyHash = fc.bigInt(0n, 2n ** 64n - 1n);
const hex = (hash: bigint) => hash.toString(16).padStart(16, "0");

/** Hashes of which many are near each other: a few centres, each with some bits flipped. */
const clustered = fc
  .tuple(
    fc.array(anyHash, { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(), fc.array(fc.integer({ min: 0, max: 63 }), { maxLength: 20 })), { maxLength: 60 }),
  )
  .map(([centres, members]) =>
    members.map(([centre, flips]) =>
      hex(flips.reduce((hash, bit) => hash ^ (1n << BigInt(bit)), centres[centre % centres.length] ?? 0n)),
    ),
  );
const anyDistance = fc.integer({ min: 0, max: MOST_DISTANCE });

function bitsApart(one: string, other: string): number {
  const differing = (BigInt(`0x${one}`) ^ BigInt(`0x${other}`)).toString(2);
  return differing.replaceAll("0", "").length;
}

describe("an index of hashes", () => {
  it("finds the nearest one within the distance, exactly as comparing with all does", () => {
    fc.assert(
      fc.property(clustered, clustered, anyDistance, (stored, asked, distance) => {
        const index = new NearIndex(distance);
        for (const [at, hash] of stored.entries()) assert.equal(index.add(hash), at);
        for (const hash of [...stored, ...asked]) {
          const all = stored.map((other, at) => ({ at, distance: bitsApart(hash, other) }));
          const [best = null] = all
            .filter((entry) => entry.distance <= distance)
            .sort((a, b) => a.distance - b.distance || a.at - b.at);
          assert.deepEqual(index.nearest(hash), best);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("finds what is exactly at the distance, wherever the bits are that differ", () => {
    fc.assert(
      fc.property(anyHash, fc.uniqueArray(fc.integer({ min: 0, max: 63 }), { maxLength: 17 }), (hash, flips) => {
        const other = flips.reduce((flipped, bit) => flipped ^ (1n << BigInt(bit)), hash);
        assert.equal(hashDistance(hex(hash), hex(other)), flips.length);
        for (const distance of [flips.length - 1, flips.length].filter((d) => d >= 0 && d <= MOST_DISTANCE)) {
          const index = new NearIndex(distance);
          index.add(hex(hash));
          assert.equal(index.nearest(hex(other)) !== null, distance === flips.length);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("grows past its first size", () => {
    const index = new NearIndex(0);
    const hashes = Array.from({ length: 5000 }, (_, at) => hex((BigInt(at) * 0x9e3779b97f4a7c15n) % 2n ** 64n));
    for (const hash of hashes) index.add(hash);
    assert.equal(index.size, 5000);
    for (const [at, hash] of hashes.entries()) assert.deepEqual(index.nearest(hash), { at, distance: 0 });
  });

  it("refuses what is no hash and no distance", () => {
    assert.throws(() => new NearIndex(17), RangeError);
    assert.throws(() => new NearIndex(1.5), RangeError);
    assert.throws(() => new NearIndex(4).add("xyz"), RangeError);
    assert.equal(isHash("0123456789abcdef"), true);
    assert.equal(isHash("0123456789ABCDEF"), false);
  });
});

const candidates = clustered.chain((hashes) =>
  fc.tuple(
    ...hashes.map((hash) =>
      fc.record<Candidate>({
        hash: fc.option(fc.constant(hash), { freq: 10 }),
        pixels: fc.integer({ min: 1, max: 4 }),
        bytes: fc.integer({ min: 1, max: 4 }),
      }),
    ),
  ),
);

describe("pictures that look alike", () => {
  it("leave one that stands for the others: near it, at least as good, and far from all that are kept", () =>
    fc.assert(
      fc.asyncProperty(candidates, anyDistance, async (list, distance) => {
        const duplicates = await findNearDuplicates(list, { distance, keep: "largest", clock: systemClock });
        for (const [at, duplicate] of duplicates.entries()) {
          const own = list[at] as Candidate;
          const kept = list.filter((other, i) => i !== at && duplicates[i] === null && other.hash !== null);
          if (duplicate === null) {
            if (own.hash === null) continue;
            assert.ok(kept.every((other) => bitsApart(own.hash ?? "", other.hash ?? "") > distance));
            continue;
          }
          const best = list[duplicate.of] as Candidate;
          assert.equal(duplicates[duplicate.of], null, "what stands for it is kept");
          assert.equal(bitsApart(own.hash ?? "", best.hash ?? ""), duplicate.distance);
          assert.ok(duplicate.distance <= distance);
          assert.ok(best.pixels > own.pixels || (best.pixels === own.pixels && best.bytes >= own.bytes));
        }
      }),
      { numRuns: 200 },
    ));

  it("are not swallowed by a chain of small steps", async () => {
    const step = (bits: number) => hex((1n << BigInt(bits)) - 1n);
    const list = [0, 6, 12, 18].map((bits, at) => ({ hash: step(bits), pixels: 100 - at, bytes: 1 }));
    const duplicates = await findNearDuplicates(list, { distance: 8, keep: "largest", clock: systemClock });
    assert.deepEqual(duplicates, [null, { of: 0, distance: 6 }, null, { of: 2, distance: 6 }]);
  });

  it("leave the first one, if that is wanted", async () => {
    const list = [1, 9, 4].map((pixels) => ({ hash: hex(7n), pixels, bytes: 1 }));
    const of = async (keep: "first" | "largest") =>
      (await findNearDuplicates(list, { distance: 2, keep, clock: systemClock })).map(
        (duplicate) => duplicate?.of ?? null,
      );
    assert.deepEqual(await of("first"), [null, 0, 0]);
    assert.deepEqual(await of("largest"), [1, null, 1]);
  });

  it("are searched in turn with everything else, however long one comparison takes", async () => {
    const stop = new AbortController();
    const list = Array.from({ length: 60 }, (_, at) => ({ hash: hex(BigInt(at)), pixels: 1, bytes: 1 }));
    let now = 0;
    const slow = { ...systemClock, monotonic: () => (now += 1) };
    await findNearDuplicates(list, { distance: 0, keep: "first", clock: slow });
    const looks = now;
    assert.ok(looks > 60 && looks < 80, `${looks} looks at the clock`);
    const search = findNearDuplicates(list, { distance: 0, keep: "first", clock: slow, signal: stop.signal });
    stop.abort(new Error("enough"));
    await assert.rejects(search, /enough/);
    assert.ok(now - looks < 20, "nobody wants to know any more: it stops at its next turn");
  });
});
