/**
 * The words of a text as 32-bit hashes, in its order. Case, punctuation, spacing and Unicode forms make no difference.
 * In scripts without spaces (Chinese, Japanese, Thai, Khmer, Lao, Burmese, Tibetan) every character is a word. Invisible
 * characters, such as soft hyphens, are not there.
 */

const BETWEEN = 0;
const WITHIN = 1;
const ALONE = 2;
const INVISIBLE = 3;

const LETTER = /^[\p{L}\p{N}\p{M}]$/u;
/** Of a character class: scripts without spaces between words. */
export const SPACELESS_SCRIPTS = ["Han", "Hiragana", "Katakana", "Thai", "Khmer", "Lao", "Myanmar", "Tibetan"]
  .map((script) => `\\p{Script=${script}}`)
  .join("");
/** Of a character class: soft hyphens, joiners, marks of direction and the like; and the stretching of Arabic words. */
export const INVISIBLE_CHARACTERS = "\\p{Default_Ignorable_Code_Point}\\u0640";
const SPACELESS = new RegExp(`^[${SPACELESS_SCRIPTS}]$`, "u");
const HIDDEN = new RegExp(`^[${INVISIBLE_CHARACTERS}]$`, "u");
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
  if (HIDDEN.test(character)) return INVISIBLE;
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
  /** The last text's words themselves, each with a zero behind it. */
  #units = new Uint16Array(2048);
  #end = 0;

  /** The bytes of the last text's words: equal only for the same words. Valid until the next text. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#units.buffer, 0, this.#end * 2);
  }

  /** The number of words. */
  read(text: string): number {
    const table = (classes ??= classesOfUnits());
    const plain = (NOT_ASCII.test(text) ? text.normalize("NFKC") : text).toLowerCase();
    // In scripts without spaces, there are as many words as characters.
    if (this.hashes.length < plain.length) this.hashes = new Int32Array(plain.length);
    // With a zero behind each.
    if (this.#units.length < plain.length * 2 + 1) this.#units = new Uint16Array(plain.length * 2 + 1);
    const { hashes } = this;
    const units = this.#units;
    let end = 0;
    let [count, hash, isOpen] = [0, FNV_OFFSET, false];
    for (let at = 0; at < plain.length; at += 1) {
      let unit = plain.charCodeAt(at);
      let kind = table[unit]!;
      if (unit >= 0xd800 && unit <= 0xdfff) {
        unit = plain.codePointAt(at)!;
        if (unit > 0xffff) at += 1;
        kind = unit > 0xffff ? classOf(String.fromCodePoint(unit)) : BETWEEN;
      }
      if (kind === INVISIBLE) continue;
      if (kind === WITHIN) {
        hash = Math.imul(hash ^ unit, FNV_PRIME);
        isOpen = true;
        if (unit > 0xffff) units[end++] = plain.charCodeAt(at - 1);
        units[end++] = plain.charCodeAt(at);
        continue;
      }
      if (isOpen) {
        hashes[count++] = mix(hash);
        units[end++] = 0;
      }
      if (kind === ALONE) {
        hashes[count++] = mix(Math.imul(FNV_OFFSET ^ unit, FNV_PRIME));
        if (unit > 0xffff) units[end++] = plain.charCodeAt(at - 1);
        units[end++] = plain.charCodeAt(at);
        units[end++] = 0;
      }
      hash = FNV_OFFSET;
      isOpen = false;
    }
    if (isOpen) {
      hashes[count++] = mix(hash);
      units[end++] = 0;
    }
    this.#end = end;
    return count;
  }
}
