/** Collects the inline content of one block. */
import { oneSpaced } from "../dom/text.ts";
import type { InlineOptions, Mark, Token } from "./tokens.ts";
import { writeInline } from "./write-inline.ts";

/**
 * White space and opening marks are deferred until visible content follows: so marks always touch words, empty marks
 * never appear, and white space at their edges moves outside.
 */
export class Inline {
  readonly options: InlineOptions;
  #tokens: Token[] = [];
  #done: string[] = [];
  /** Deferred white space; "code": all of it is inside code. */
  #pendingSpace: "text" | "code" | null = null;
  #breaks = 0;
  #pendingMarks: Mark[];
  #open: Mark[] = [];
  #code = 0;

  constructor(options: InlineOptions, marks: readonly Mark[] = [], code = 0) {
    this.options = options;
    this.#pendingMarks = [...marks];
    this.#code = code;
  }

  /** The active marks, outermost first. */
  get marks(): Mark[] {
    return [...this.#open, ...this.#pendingMarks];
  }

  /** Nesting depth of code elements. */
  get codeDepth(): number {
    return this.#code;
  }

  get isEmpty(): boolean {
    return this.#tokens.length === 0 && this.#done.length === 0;
  }

  text(data: string): void {
    const normalized = oneSpaced(data);
    const from = normalized.startsWith(" ") ? 1 : 0;
    if (from > 0) this.space();
    if (normalized.length === from) return;
    const to = normalized.endsWith(" ") ? normalized.length - 1 : normalized.length;
    this.#begin();
    this.#append(normalized.slice(from, to), this.#code > 0 ? "code" : "text");
    if (to < normalized.length) this.space();
  }

  raw(text: string): void {
    this.#begin();
    this.#tokens.push({ kind: "raw", text });
  }

  /** Preserves spaces. */
  codeLine(text: string): void {
    if (text.trim() === "") return;
    this.#begin();
    this.#tokens.push({ kind: "code", text });
  }

  space(): void {
    if (this.#code === 0) this.#pendingSpace = "text";
    else this.#pendingSpace ??= "code";
  }

  break(): void {
    if (this.options.mode === "heading") this.#pendingSpace = "text";
    else this.#breaks += 1;
  }

  /** Separates blocks that share one line. */
  boundary(): void {
    if (this.options.mode === "heading") this.#pendingSpace = "text";
    else this.#breaks = Math.max(1, this.#breaks);
  }

  open(mark: Mark): void {
    if (this.#code > 0 && mark.kind !== "link") return;
    const holds = (other: Mark) => other.kind === mark.kind;
    if (!this.#open.some(holds) && !this.#pendingMarks.some(holds)) this.#pendingMarks.push(mark);
  }

  close(mark: Mark): void {
    const pendingAt = this.#pendingMarks.lastIndexOf(mark);
    if (pendingAt >= 0) {
      this.#pendingMarks.splice(pendingAt, 1);
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

  /** Returns the paragraphs so far. Open marks continue in the next one; a link is written once. */
  take(): string[] {
    this.#split();
    this.#pendingSpace = null;
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
    this.#pendingMarks = [...marks, ...this.#pendingMarks].filter((mark) => mark.kind !== "link" || !mark.written);
    this.#done.push(writeInline(this.#tokens, this.options));
    this.#tokens = [];
  }

  /** Called before visible content. */
  #begin(): void {
    if (this.#breaks > 1 && this.options.mode === "block" && !this.#open.some((mark) => mark.kind === "link"))
      this.#split();
    if (this.#tokens.length > 0) {
      if (this.#breaks > 0) this.#tokens.push({ kind: "break" });
      else if (this.#pendingSpace !== null) this.#append(" ", this.#code > 0 ? this.#pendingSpace : "text");
    }
    this.#pendingSpace = null;
    this.#breaks = 0;
    if (this.#pendingMarks.length > 0) this.#openPendingMarks();
  }

  #openPendingMarks(): void {
    for (const mark of this.#pendingMarks) {
      if (mark.kind === "link" && mark.written) continue;
      mark.written = true;
      const last = this.#tokens.at(-1);
      // `*a**b*` does not parse as two marks; one mark around both is equivalent.
      if (last?.kind === "close" && last.mark.kind === mark.kind && mark.kind !== "link") this.#tokens.pop();
      else this.#tokens.push({ kind: "open", mark });
      this.#open.push(mark);
    }
    this.#pendingMarks = [];
  }

  #closeFrom(at: number): void {
    while (this.#open.length > at) this.#tokens.push({ kind: "close", mark: this.#open.pop() as Mark });
  }

  #append(text: string, kind: "text" | "code"): void {
    const last = this.#tokens.at(-1);
    if (last?.kind === kind) last.text += text;
    // A space between code and a link in it is not code.
    else this.#tokens.push({ kind: text === " " ? "text" : kind, text });
  }
}
