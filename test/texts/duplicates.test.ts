import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemCode } from "../../src/base/errors.ts";
import { integerBelow, type Random, seededRandom } from "../../src/base/random.ts";
import { Candidates, MOST_VISITS } from "../../src/texts/candidates.ts";
import { MATCH, type SearchMethod, TextDuplicates, type Verdicts } from "../../src/texts/duplicates.ts";
import { bandingFor, jaccard, Shingles } from "../../src/texts/minhash.ts";
import { Rows } from "../../src/texts/rows.ts";
import { TextSearch } from "../../src/texts/search.ts";
import { WordReader } from "../../src/texts/words.ts";
import fc from "../support/properties.ts";
import { tempDir } from "../support/temp-dir.ts";

const MINHASH: SearchMethod = { method: "minhash", threshold: 0.8, shingle: 5 };

interface Ranked {
  text: string;
  rank: number;
}

function decided(search: SearchMethod, texts: readonly Ranked[]): Verdicts {
  using folder = tempDir();
  using duplicates = new TextDuplicates(search, folder.path);
  for (const { text, rank } of texts) duplicates.add(text, rank);
  assert.deepEqual(readdirSync(folder.path), [], "a kill leaves no file behind");
  return duplicates.decide();
}

const keptOf = (search: SearchMethod, texts: readonly Ranked[]) => {
  const { match } = decided(search, texts);
  return texts.filter((_, at) => match[at] === MATCH.kept || match[at] === MATCH.empty);
};

const plain = (...texts: string[]): Ranked[] => texts.map((text) => ({ text, rank: 0 }));

/** Texts of random words, and altered copies of them. */
function corpus(random: Random, count: number, words = 200): string[] {
  const word = () => `w${integerBelow(random, 5000)}`;
  const originals: string[][] = [];
  return Array.from({ length: count }, (_, at) => {
    const like = at % 3 === 0 ? undefined : originals[integerBelow(random, Math.max(1, originals.length))];
    const text = like === undefined ? Array.from({ length: words }, word) : [...like];
    if (like === undefined) originals.push(text);
    else for (let times = integerBelow(random, 14); times > 0; times -= 1) text[integerBelow(random, words)] = word();
    return text.join(" ");
  });
}

function shinglesOf(text: string): Int32Array {
  const [words, shingles] = [new WordReader(), new Shingles(5)];
  const read = words.read(text);
  const count = shingles.read(words.hashes, read);
  return shingles.sorted.slice(0, count);
}

describe("duplicate texts", () => {
  it("are the same words, whatever the case, the marks, the spacing and the Unicode form", () => {
    const { match, of } = decided(
      { method: "exact" },
      plain("The café opens at nine.", "the CAFE\u0301  opens, at nine", "The café opens at ten.", "", "…"),
    );
    assert.deepEqual([...match], [MATCH.kept, MATCH.exact, MATCH.kept, MATCH.empty, MATCH.empty]);
    assert.equal(of[1], 0);
  });

  it("are the same words with invisible characters in them", () => {
    const plainText = "cooperate می\u0631وم كتاب";
    const hidden = "co\u00adop\u200berate\ufeff می\u200c\u0631وم\u2060 ك\u0640\u0640تاب";
    assert.deepEqual([...decided({ method: "exact" }, plain(plainText, hidden)).match], [MATCH.kept, MATCH.exact]);
  });

  it("are not those of words with the same hash", () => {
    const words = new WordReader();
    const hashOf = (word: string) => (words.read(word), words.hashes[0]!);
    const known = new Map<number, string>();
    let pair: [string, string] | null = null;
    for (let n = 0; pair === null; n += 1) {
      const word = `w${n.toString(36)}`;
      const other = known.get(hashOf(word));
      if (other !== undefined) pair = [other, word];
      known.set(hashOf(word), word);
    }
    assert.deepEqual([...decided({ method: "exact" }, plain(...pair)).match], [MATCH.kept, MATCH.kept]);
    const split = decided({ method: "exact" }, plain("ab c", "a bc", "𠀀𠀁 x𝟙", "𠀀 𠀁 X1"));
    assert.deepEqual([...split.match], [MATCH.kept, MATCH.kept, MATCH.kept, MATCH.exact]);
  });

  it("of scripts without spaces are compared character by character", () => {
    const chinese = "春眠不覺曉處處聞啼鳥夜來風雨聲花落知多少".repeat(1);
    const long = Array.from({ length: 120 }, (_, at) => String.fromCodePoint(0x4e00 + at * 7)).join("");
    const { match } = decided(MINHASH, plain(chinese, long, `${long.slice(0, 118)}花落`));
    assert.deepEqual([...match], [MATCH.kept, MATCH.kept, MATCH.near]);
  });

  it("that share 0.8 of their shingles are found: at least 95 % of what comparing all pairs finds, and nothing else [slow]", () => {
    const texts = corpus(seededRandom(3), 1500);
    const sets = texts.map(shinglesOf);
    const { match, of, likeness } = decided(
      MINHASH,
      texts.map((text) => ({ text, rank: 0 })),
    );
    let [similar, found] = [0, 0];
    const kept: number[] = [];
    for (const [at, set] of sets.entries()) {
      const isSimilar = kept.some((other) => jaccard(set, sets[other]!) >= 0.8);
      if (isSimilar) similar += 1;
      if (isSimilar && match[at] !== MATCH.kept) found += 1;
      if (match[at] === MATCH.kept) kept.push(at);
      else {
        const real = jaccard(set, sets[of[at]!]!);
        assert.ok(real >= 0.8, `text ${at} was removed at ${real}`);
        assert.ok(Math.abs(real - likeness[at]!) < 1e-6, "the similarity is the real one");
        assert.equal(match[of[at]!], MATCH.kept, "it is replaced by one that is kept");
      }
    }
    assert.ok(similar > 300, `${similar} of them are similar`);
    assert.ok(found >= 0.95 * similar, `${found} of ${similar}`);
  });

  it("of some words are found by simhash: one of a dozen words differs, others are kept", () => {
    const { match, likeness } = decided(
      { method: "simhash", distance: 10 },
      plain(
        "Storm warning for the northern coast extended until Sunday evening, officials say today",
        "Storm warning for the northern coast extended until Monday evening, officials say today",
        "Council approves new cycling lanes between the old town and the central station",
        "Storm warning for the northern coast extended until Sunday evening - officials say today",
      ),
    );
    assert.deepEqual([...match], [MATCH.kept, MATCH.near, MATCH.kept, MATCH.exact]);
    assert.ok(likeness[1]! > 0 && likeness[1]! <= 10);
    assert.equal(likeness[3], 0);
  });

  it("are kept by rank, then by order; a copy of a removed text is replaced by a kept one", () => {
    const base = corpus(seededRandom(5), 1)[0]!;
    const near = `${base} and more`;
    const { match, of } = decided(MINHASH, [
      { text: near, rank: 1 },
      { text: near, rank: 0 },
      { text: base, rank: 2 },
      { text: base, rank: 2 },
    ]);
    assert.deepEqual([...match], [MATCH.near, MATCH.near, MATCH.kept, MATCH.exact]);
    assert.deepEqual([...of], [2, 2, 2, 2]);
  });

  it("without a rank come after those with one", () => {
    const { match } = decided({ method: "exact" }, [
      { text: "a b c", rank: -Infinity },
      { text: "a b c", rank: -Infinity },
      { text: "a b c", rank: -5 },
    ]);
    assert.deepEqual([...match], [MATCH.exact, MATCH.exact, MATCH.kept]);
  });

  const texts = fc
    .record({ seed: fc.integer({ min: 1, max: 1e6 }), words: fc.integer({ min: 1, max: 60 }), ranks: fc.boolean() })
    .map(({ seed, words, ranks }) => {
      const random = seededRandom(seed);
      return corpus(random, 40, words).map((text) => ({ text, rank: ranks ? integerBelow(random, 4) : 0 }));
    });
  const methods = fc.constantFrom<SearchMethod>(
    MINHASH,
    { method: "minhash", threshold: 0.5, shingle: 2 },
    { method: "simhash", distance: 8 },
    { method: "exact" },
  );

  it("give the same result each time, and nothing more is removed from what was kept", () => {
    fc.assert(
      fc.property(texts, methods, (list, method) => {
        assert.deepEqual(decided(method, list), decided(method, list));
        const kept = keptOf(method, list);
        assert.deepEqual(keptOf(method, kept), kept);
      }),
      { numRuns: 60 },
    );
  });

  it("of many pages that share a template are told apart, and copies are found among them [slow]", () => {
    const random = seededRandom(9);
    const template = Array.from({ length: 200 }, () => `t${integerBelow(random, 5000)}`);
    // About 0.7 similar to each other: nearly every pair shares a band.
    const pages = Array.from({ length: 3000 }, () =>
      template.map((word, at) => (at % 25 === 0 ? `x${integerBelow(random, 1e9)}` : word)).join(" "),
    );
    const copy = `${pages[1500]} indeed`;
    const { match, of } = decided(MINHASH, plain(...pages, copy));
    assert.equal(match.filter((one) => one === MATCH.kept).length, 3000);
    assert.equal(of[3000], 1500);
  });
});

describe("candidates among pages of one template", () => {
  const BANDING = { bands: 20, rows: 5 };

  /** Pages that share the bands before `common` with all others; the copy shares its last band with the first. */
  function pages(count: number, common: number) {
    const bands = new Rows(BANDING.bands, (length) => new Int32Array(length));
    const sketches = new Rows(BANDING.bands * BANDING.rows, (length) => new Uint8Array(length));
    for (let page = 0; page <= count; page += 1) {
      const own = bands.add();
      for (let band = 0; band < BANDING.bands; band += 1)
        bands.chunkOf(own)[bands.at(own) + band] = band < common ? 7 : page * BANDING.bands + band;
      sketches.add();
      // Equal minima of the template only, except of the copy.
      const [chunk, from] = [sketches.chunkOf(page), sketches.at(page)];
      for (let at = common * BANDING.rows; at < BANDING.bands * BANDING.rows; at += 1)
        chunk[from + at] = page === count ? 1 : 1 + ((page * 31 + at * (page % 7)) % 251);
    }
    const last = BANDING.bands - 1;
    bands.chunkOf(count)[bands.at(count) + last] = bands.chunkOf(0)[bands.at(0) + last]!;
    const candidates = new Candidates(BANDING, 0.8, bands, sketches);
    for (let page = 0; page < count; page += 1) candidates.add(page);
    return candidates;
  }

  it("include the copy, though the bands of the template hold more pages than are looked at", () => {
    const count = 30_000;
    const candidates = pages(count, 12);
    assert.ok(
      candidates.of(count).some(({ text }) => text === 0),
      "a band that only copies share is always looked at",
    );
    const perBand = MOST_VISITS / BANDING.bands;
    assert.equal(candidates.visits, 12 * perBand + 1, "the bound of every common band is reached");
  });

  it("are bounded for each page, whatever their number", () => {
    const candidates = pages(30_000, 20);
    for (let page = 29_000; page < 29_050; page += 1) {
      const before = candidates.visits;
      assert.ok(candidates.of(page).length <= 64);
      assert.equal(candidates.visits - before, MOST_VISITS);
    }
  });
});

describe("the thread that compares texts", () => {
  async function found(texts: readonly string[], signal = new AbortController().signal): Promise<Verdicts> {
    using folder = tempDir();
    await using search = new TextSearch(MINHASH, folder.path, signal, () => {});
    for (const text of texts) await search.add(text, 0);
    return await search.decide();
  }

  it("gives what comparing here gives, wherever its messages begin and end [slow]", async () => {
    const texts = corpus(seededRandom(11), 1100, 60);
    // One of them fills a message alone.
    texts[300] = `${texts[300]} ${"long ".repeat(250_000)}`;
    const expected = decided(MINHASH, plain(...texts));
    for (const before of [0, 1, 211, 511, 512]) {
      const others = Array.from({ length: before }, (_, at) => `other text number ${at} of ${before} here`);
      const { match, of, likeness } = await found([...others, ...texts]);
      assert.deepEqual(match.subarray(before), expected.match);
      assert.deepEqual(
        of.subarray(before).map((at) => at - before),
        expected.of,
      );
      assert.deepEqual(likeness.subarray(before), expected.likeness);
    }
  });

  it("ends when it is cancelled, and reports what went wrong", async () => {
    const stop = new AbortController();
    using folder = tempDir();
    const search = new TextSearch(MINHASH, folder.path, stop.signal, () => {});
    await search.add("a text", 0);
    const decision = search.decide();
    stop.abort(new Error("cancelled"));
    await assert.rejects(decision, /cancelled/);
    await search[Symbol.asyncDispose]();
    const { signal } = new AbortController();
    await using wrong = new TextSearch({ method: "simhash", distance: 99 }, folder.path, signal, () => {});
    await assert.rejects(wrong.decide(), /a distance is a whole number/);
    await using nowhere = new TextSearch(MINHASH, join(folder.path, "missing"), signal, () => {});
    await assert.rejects(nowhere.decide(), (error) => {
      assert.equal(systemCode(error), "ENOENT", "the system's error code is kept: a full disk is told by it");
      return true;
    });
  });
});

describe("bands of minima", () => {
  it("find nearly all pairs at the threshold, with at most 128 minima", () => {
    for (let threshold = 0.5; threshold <= 1; threshold += 0.01) {
      const { bands, rows } = bandingFor(threshold);
      assert.ok(bands * rows <= 128);
      assert.ok(1 - (1 - threshold ** rows) ** bands >= 0.99, `${threshold}: ${bands} of ${rows}`);
    }
  });
});
