/** The inline content of one block, collected while the tree is walked. */
import { oneSpaced } from "../dom/text.ts";
import type { InlineOptions, Mark, Token } from "./tokens.ts";
import { writeInline } from "./write-inline.ts";

/**
 * White space and opening marks wait until something visible follows: so marks always touch words, empty ones never
 * appear, and space at their edges ends up outside.
 */
export class Inline {
  readonly options: InlineOptions;
  #tokens: Token[] = [];
  #done: string[] = [];
  /** White space that waits, and whether all of it is code. */
  #space: "text" | "code" | null = null;
  #breaks = 0;
  #waiting: Mark[];
  #open: Mark[] = [];
  #code = 0;

  constructor(options: InlineOptions, marks: readonly Mark[] = [], code = 0) {
    this.options = options;
    this.#waiting = [...marks];
    this.#code = code;
  }

  /** The marks that hold here, outermost first. */
  get marks(): Mark[] {
    return [...this.#open, ...this.#waiting];
  }

  /** How many elements of code this is inside of. */
  get codeDepth(): number {
    return this.#code;
  }

  get isEmpty(): boolean {
    return this.#tokens.length === 0 && this.#done.length === 0;
  }

  text(data: string): void {
    const even = oneSpaced(data);
    const from = even.startsWith(" ") ? 1 : 0;
    if (from > 0) this.space();
    if (even.length === from) return;
    const to = even.endsWith(" ") ? even.length - 1 : even.length;
    this.#begin();
    this.#append(even.slice(from, to), this.#code > 0 ? "code" : "text");
    if (to < even.length) this.space();
  }

  raw(text: string): void {
    this.#begin();
    this.#tokens.push({ kind: "raw", text });
  }

  /** Spaces within it stay. */
  codeLine(text: string): void {
    if (text.trim() === "") return;
    this.#begin();
    this.#tokens.push({ kind: "code", text });
  }

  space(): void {
    if (this.#code === 0) this.#space = "text";
    else this.#space ??= "code";
  }

  break(): void {
    if (this.options.mode === "heading") this.#space = "text";
    else this.#breaks += 1;
  }

  /** Between blocks that have to share one line. */
  boundary(): void {
    if (this.options.mode === "heading") this.#space = "text";
    else this.#breaks = Math.max(1, this.#breaks);
  }

  open(mark: Mark): void {
    if (this.#code > 0 && mark.kind !== "link") return;
    const holds = (other: Mark) => other.kind === mark.kind;
    if (!this.#open.some(holds) && !this.#waiting.some(holds)) this.#waiting.push(mark);
  }

  close(mark: Mark): void {
    const waits = this.#waiting.lastIndexOf(mark);
    if (waits >= 0) {
      this.#waiting.splice(waits, 1);
      return;
    }
    const at = this.#open.lastIndexOf(mark);
    if (at >= 0) this.#closeFrom(at);
  }

  startCode(): void {
    this.#code += 1;
  }

  endCode(): void {
    this.#code -= 1;
  }

  /** The paragraphs so far. Marks that are still open hold for what follows; a link is written once. */
  take(): string[] {
    this.#split();
    this.#space = null;
    this.#breaks = 0;
    const done = this.#done;
    this.#done = [];
    return done;
  }

  #split(): void {
    if (this.#tokens.length === 0) return;
    const marks = this.#open;
    this.#open = [...marks];
    this.#closeFrom(0);
    this.#waiting = [...marks, ...this.#waiting].filter((mark) => mark.kind !== "link" || !mark.written);
    this.#done.push(writeInline(this.#tokens, this.options));
    this.#tokens = [];
  }

  /** Something visible follows. */
  #begin(): void {
    if (this.#breaks > 1 && this.options.mode === "block" && !this.#open.some((mark) => mark.kind === "link"))
      this.#split();
    if (this.#tokens.length > 0) {
      if (this.#breaks > 0) this.#tokens.push({ kind: "break" });
      else if (this.#space !== null) this.#append(" ", this.#code > 0 ? this.#space : "text");
    }
    this.#space = null;
    this.#breaks = 0;
    if (this.#waiting.length > 0) this.#openWaiting();
  }

  #openWaiting(): void {
    for (const mark of this.#waiting) {
      if (mark.kind === "link" && mark.written) continue;
      mark.written = true;
      const last = this.#tokens.at(-1);
      // `*a**b*` would not be read as two; one mark around both says the same.
      if (last?.kind === "close" && last.mark.kind === mark.kind && mark.kind !== "link") this.#tokens.pop();
      else this.#tokens.push({ kind: "open", mark });
      this.#open.push(mark);
    }
    this.#waiting = [];
  }

  #closeFrom(at: number): void {
    while (this.#open.length > at) this.#tokens.push({ kind: "close", mark: this.#open.pop() as Mark });
  }

  #append(text: string, kind: "text" | "code"): void {
    const last = this.#tokens.at(-1);
    if (last?.kind === kind) last.text += text;
    // Between code and a link in it, space is not code.
    else this.#tokens.push({ kind: text === " " ? "text" : kind, text });
  }
}
