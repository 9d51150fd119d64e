/** Time, memory and recall of `deduplicate` on many texts. */
import { tmpdir } from "node:os";
import { MATCH, TextDuplicates } from "../../src/texts/duplicates.ts";
import { jaccard, Shingles } from "../../src/texts/minhash.ts";
import { WordReader } from "../../src/texts/words.ts";
import { print, verdict, verdictAtMost } from "../support/measure.ts";
import { corpus } from "./corpus.ts";
import { measuredInProcess } from "./duplicates.ts";

const WANTED = { seconds: 600, peakMb: 1000, recall: 0.95 };
const [THRESHOLD, SHINGLE] = [0.8, 5];
const SAMPLE = 5000;

/** Of the texts that are similar to a kept one, by comparing all: the share that was removed. */
function recall(count: number): { similar: number; removed: number } {
  using duplicates = new TextDuplicates({ method: "minhash", threshold: THRESHOLD, shingle: SHINGLE }, tmpdir());
  const [words, shingles] = [new WordReader(), new Shingles(SHINGLE)];
  const sets: Int32Array[] = [];
  for (const text of corpus(count)) {
    duplicates.add(text, 0);
    const length = words.read(text);
    const distinct = shingles.read(words.hashes, length);
    sets.push(shingles.sorted.slice(0, distinct));
  }
  const { match } = duplicates.decide();
  const kept: Int32Array[] = [];
  const counts = { similar: 0, removed: 0 };
  for (const [at, set] of sets.entries()) {
    // Exact copies are found by their digests.
    if (match[at] === MATCH.exact) continue;
    const isSimilar = kept.some((other) => jaccard(set, other) >= THRESHOLD);
    if (isSimilar) counts.similar += 1;
    if (match[at] === MATCH.kept) kept.push(set);
    else if (isSimilar) counts.removed += 1;
  }
  return counts;
}

export async function benchTexts(count: number): Promise<boolean> {
  print(`\ndeduplicate, ${count} texts of 200 words, a tenth of them copies and a fifth altered copies`);
  const { seconds, output, restingMb, peakMb } = await measuredInProcess("texts", count);
  print(`  ${JSON.stringify(output)}`);
  print(`  ${seconds.toFixed(1)} s, at most ${peakMb.toFixed(0)} MB resident (${restingMb.toFixed(0)} MB before)`);
  const { similar, removed } = recall(Math.min(count, SAMPLE));
  print(
    `  of ${similar} texts that are ${THRESHOLD} similar to a kept one, by comparing all pairs, ${removed} were removed`,
  );
  return [
    verdictAtMost("texts time", seconds, WANTED.seconds, " s"),
    verdictAtMost("texts memory", peakMb, WANTED.peakMb, " MB"),
    verdict("texts recall", removed / similar, WANTED.recall, ""),
  ].every(Boolean);
}
