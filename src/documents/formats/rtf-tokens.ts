/** The tokens of RTF, and its characters: bytes of a code page, or Unicode with a replacement for old readers. */
import { type CodePage, RtfFonts } from "./rtf-charsets.ts";

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

interface TextState {
  /** How many characters replace a Unicode one for old readers. */
  skips: number;
  /** Null: the default font. */
  font: number | null;
}

/** Decodes the characters of a document. */
export class RtfText {
  readonly #fonts = new RtfFonts();
  #states: TextState[] = [{ skips: 1, font: null }];
  /** Replacements that are still to be left out. */
  #toSkip = 0;
  #taken = "";

  push(): void {
    this.#states.push({ ...this.#states.at(-1)! });
    this.#toSkip = 0;
  }

  pop(): void {
    if (this.#states.length > 1) this.#states.pop();
    this.#toSkip = 0;
  }

  /** Whether the word is about characters; `taken` has what it stands for. `inFontTable`: it describes a font. */
  control(word: string, value: number | null, inFontTable: boolean): boolean {
    this.#taken = "";
    const state = this.#states.at(-1)!;
    this.#fonts.control(word, value, inFontTable);
    if (word === "u" && value !== null) {
      this.#taken = this.#flush() + String.fromCharCode(value < 0 ? value + 65_536 : value);
      this.#toSkip = state.skips;
    } else if (word === "uc") state.skips = Math.min(10, Math.max(0, value ?? 1));
    else if (word === "f") {
      this.#taken = this.#flush();
      state.font = value;
    } else {
      if (word === "plain") state.font = null;
      return false;
    }
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
    return this.#codePage().decode(Uint8Array.of(value));
  }

  plain(text: string): string {
    const cut = Math.min(this.#toSkip, text.length);
    this.#toSkip -= cut;
    const rest = text.slice(cut);
    if (rest === "") return "";
    const page = this.#codePage();
    // oxlint-disable-next-line no-control-regex
    return page.isWide || !/^[\x00-\x7f]*$/.test(rest) ? page.decode(Buffer.from(rest, "latin1")) : rest;
  }

  #codePage(): CodePage {
    return this.#fonts.codePage(this.#states.at(-1)!.font);
  }

  /** What is left of a character that is incomplete. */
  #flush(): string {
    const page = this.#codePage();
    return page.isWide ? page.decode(new Uint8Array()) : "";
  }
}
