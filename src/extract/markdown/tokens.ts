/** What inline content is made of. */

export type MarkKind = "em" | "strong" | "del" | "sup" | "sub" | "link";

export interface Mark {
  readonly kind: MarkKind;
  /** Of a link, its address. */
  readonly href: string;
  /** Something was written inside it. */
  written: boolean;
}

export type Token =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  /** Markdown that is finished: a picture, a formula. */
  | { kind: "raw"; text: string }
  | { kind: "break" }
  | { kind: "open"; mark: Mark }
  | { kind: "close"; mark: Mark };

/** `block`: paragraphs; `heading`: one line; `cell`: one line in which `<br>` may stand. */
export type Mode = "block" | "heading" | "cell";

export interface InlineOptions {
  mode: Mode;
  /** Whether to escape `$`, because formulas stand between dollar signs. */
  dollars(): boolean;
}
