/** The tokens of RTF, and its characters: bytes of a code page, or Unicode with a replacement for old readers. */

interface Token {
  kind: "open" | "close" | "word" | "text" | "byte";
  /** The control word or the text. */
  word: string;
  /** The parameter of the word; null: none. */
  value: number | null;
}

const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/gi;

export function* tokensOf(source: string): Generator<Token> {
  TOKEN.lastIndex = 0;
  const tokens = new RegExp(TOKEN);
  for (let match = tokens.exec(source); match !== null; match = tokens.exec(source)) {
    const [, word, value, byte, symbol, brace, text] = match;
    if (word !== undefined) {
      const parameter = value === undefined ? null : Number(value);
      // Binary data follows as it is.
      if (word === "bin") tokens.lastIndex += Math.max(0, parameter ?? 0);
      else yield { kind: "word", word, value: parameter };
    } else if (byte !== undefined) yield { kind: "byte", word: "", value: Number.parseInt(byte, 16) };
    else if (brace !== undefined) yield { kind: brace === "{" ? "open" : "close", word: "", value: null };
    else if (text !== undefined) yield { kind: "text", word: text, value: null };
    else if (symbol === "\\" || symbol === "{" || symbol === "}") yield { kind: "text", word: symbol, value: null };
    else if (symbol !== undefined) yield { kind: "word", word: /[\r\n]/.test(symbol) ? "par" : symbol, value: null };
  }
}

/** Code pages that decoders know under another name. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  65001: "utf-8",
};

/** Decodes the characters of a document. */
export class RtfText {
  #decoder = new TextDecoder("windows-1252");
  #skips: number[] = [1];
  /** Replacements that are still to be left out. */
  #toSkip = 0;
  #pending: number[] = [];
  #taken = "";

  push(): void {
    this.#skips.push(this.#skips.at(-1)!);
    this.#toSkip = 0;
  }

  pop(): void {
    if (this.#skips.length > 1) this.#skips.pop();
    this.#toSkip = 0;
  }

  /** Whether the word is about characters; `taken` has what it stands for. */
  control(word: string, value: number | null): boolean {
    this.#taken = "";
    if (word === "u" && value !== null) {
      this.#taken = this.#flush() + String.fromCharCode(value < 0 ? value + 65_536 : value);
      this.#toSkip = this.#skips.at(-1)!;
    } else if (word === "uc") this.#skips[this.#skips.length - 1] = Math.min(10, Math.max(0, value ?? 1));
    else if (word === "ansicpg") this.#decoder = decoderFor(value ?? 1252);
    else return false;
    return true;
  }

  taken(): string {
    return this.#taken;
  }

  byte(value: number): string {
    if (this.#toSkip > 0) {
      this.#toSkip -= 1;
      return "";
    }
    if (this.#decoder.encoding.startsWith("windows")) return this.#decoder.decode(Uint8Array.of(value));
    // Characters of two bytes: complete with the second one.
    this.#pending.push(value);
    return this.#pending.length >= 2 || value < 0x80 ? this.#flush() : "";
  }

  plain(text: string): string {
    const cut = Math.min(this.#toSkip, text.length);
    this.#toSkip -= cut;
    return this.#flush() + text.slice(cut);
  }

  #flush(): string {
    if (this.#pending.length === 0) return "";
    const bytes = Uint8Array.from(this.#pending);
    this.#pending = [];
    return this.#decoder.decode(bytes);
  }
}

function decoderFor(codePage: number) {
  try {
    return new TextDecoder(CODE_PAGES[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
