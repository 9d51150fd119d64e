/** Tokens of inline content. */

export type MarkKind = "em" | "strong" | "del" | "sup" | "sub" | "link";

export interface Mark {
  readonly kind: MarkKind;
  /** The URL of a link. */
  readonly href: string;
  /** It has content. */
  written: boolean;
}

export type Token =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  /** Finished Markdown: an image, a formula. */
  | { kind: "raw"; text: string }
  | { kind: "break" }
  | { kind: "open"; mark: Mark }
  | { kind: "close"; mark: Mark };

/** `block`: paragraphs; `heading`: one line; `cell`: one line that may contain `<br>`. */
export type Mode = "block" | "heading" | "cell";

export interface InlineOptions {
  mode: Mode;
  /** Whether to escape `$`, because the text contains formulas. */
  dollars(): boolean;
}
