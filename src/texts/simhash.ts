/**
 * SimHash: 64 bits that differ little between texts that differ little, also for texts of a few words, where runs of
 * words have hardly anything in common. Each word has a vote on every bit, and each pair of neighbours half a vote.
 */
import { mix } from "./words.ts";

const votes = new Int32Array(64);

/** As 16 hexadecimal digits. */
export function simhashOf(words: Int32Array, count: number): string {
  votes.fill(0);
  for (let at = 0; at < count; at += 1) {
    const word = words[at]!;
    vote(word, 2);
    if (at > 0) vote(Math.imul(words[at - 1]!, 0x9e3779b1) ^ word, 1);
  }
  let [high, low] = [0, 0];
  for (let bit = 0; bit < 32; bit += 1) {
    if (votes[bit]! > 0) high |= 1 << bit;
    if (votes[32 + bit]! > 0) low |= 1 << bit;
  }
  return hex(high) + hex(low);
}

function vote(feature: number, weight: number): void {
  const [high, low] = [mix(feature ^ 0x5bd1e995), mix(feature + 0x1b873593)];
  for (let bit = 0; bit < 32; bit += 1) {
    votes[bit]! += (high >>> bit) & 1 ? weight : -weight;
    votes[32 + bit]! += (low >>> bit) & 1 ? weight : -weight;
  }
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, "0");
}
