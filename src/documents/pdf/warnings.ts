/**
 * What PDF.js warns about while it reads a file. It goes on after most errors, with an empty page or without the pages it
 * does not find, and says so only on the console.
 */
export class PdfWarnings implements Disposable {
  readonly #target: Pick<Console, "warn"> = globalThis.console;
  readonly #warn = this.#target.warn;
  /** Errors that leave out text so far; missing fonts do not. */
  errors = 0;
  lacksPages = false;

  constructor() {
    this.#target.warn = (...parts: unknown[]) => {
      const text = parts.map(String).join(" ");
      if (!text.startsWith("Warning: ")) this.#warn.apply(this.#target, parts);
      else if (/invalid \/Pages tree/.test(text)) this.lacksPages = true;
      else if (/Invalid stream|ignoring errors|FormatError|Skipping/i.test(text)) this.errors += 1;
    };
  }

  [Symbol.dispose](): void {
    this.#target.warn = this.#warn;
  }
}
