/**
 * The words of a text as 32-bit hashes, in its order. Case, punctuation, spacing and Unicode forms make no difference.
 * In scripts without spaces (Chinese, Japanese, Thai) every character is a word.
 */

const BETWEEN = 0;
const WITHIN = 1;
const ALONE = 2;

const LETTER = /^[\p{L}\p{N}\p{M}]$/u;
const SPACELESS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;
const NOT_ASCII = /\P{ASCII}/u;

/** Of every UTF-16 code unit but surrogates; made at first use, in some 20 ms. */
let classes: Uint8Array | null = null;

function classesOfUnits(): Uint8Array {
  const table = new Uint8Array(1 << 16);
  for (let unit = 0; unit < table.length; unit += 1)
    if (unit < 0xd800 || unit > 0xdfff) table[unit] = classOf(String.fromCharCode(unit));
  return table;
}

function classOf(character: string): number {
  if (!LETTER.test(character)) return BETWEEN;
  return SPACELESS.test(character) ? ALONE : WITHIN;
}

/** The finalizer of MurmurHash3: every bit of the input changes half of the output's. */
export function mix(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

const FNV_OFFSET = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

/** Reads texts into one array that grows with the longest. */
export class WordReader {
  /** Hashes of the last text's words; valid up to the returned count. */
  hashes = new Int32Array(1024);

  /** The number of words. */
  read(text: string): number {
    const table = (classes ??= classesOfUnits());
    const plain = (NOT_ASCII.test(text) ? text.normalize("NFKC") : text).toLowerCase();
    // In scripts without spaces, there are as many words as characters.
    if (this.hashes.length < plain.length) this.hashes = new Int32Array(plain.length);
    const { hashes } = this;
    let [count, hash, isOpen] = [0, FNV_OFFSET, false];
    for (let at = 0; at < plain.length; at += 1) {
      let unit = plain.charCodeAt(at);
      let kind = table[unit]!;
      if (unit >= 0xd800 && unit <= 0xdfff) {
        unit = plain.codePointAt(at)!;
        if (unit > 0xffff) at += 1;
        kind = unit > 0xffff ? classOf(String.fromCodePoint(unit)) : BETWEEN;
      }
      if (kind === WITHIN) {
        hash = Math.imul(hash ^ unit, FNV_PRIME);
        isOpen = true;
        continue;
      }
      if (isOpen) hashes[count++] = mix(hash);
      if (kind === ALONE) hashes[count++] = mix(Math.imul(FNV_OFFSET ^ unit, FNV_PRIME));
      hash = FNV_OFFSET;
      isOpen = false;
    }
    if (isOpen) hashes[count++] = mix(hash);
    return count;
  }
}
