/** Writes the page that a document becomes. */

export interface DocumentFacts {
  title?: string | null;
  authors?: readonly string[];
  description?: string | null;
  keywords?: string | null;
  language?: string | null;
  /** ISO 8601. */
  created?: string | null;
  modified?: string | null;
  generator?: string | null;
}

/** Thrown when the page is as long as it may be: nothing after it would be kept. */
export class LengthReached extends Error {}

export class HtmlWriter {
  readonly #parts: string[] = [];
  readonly #maxLength: number;
  #left: number;
  readonly #missing: string[] = [];
  /** As soon as they are known, for a document that is cut off. */
  facts: DocumentFacts & { pageCount?: number } = {};

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
    this.#left = maxLength;
  }

  /** Says that a part of the document is left out, and why. */
  missing(why: string): void {
    if (!this.#missing.includes(why)) this.#missing.push(why);
  }

  get truncated(): string | null {
    return this.#missing.length === 0 ? null : this.#missing.join("; ");
  }

  /** Ends the page: what follows does not fit. */
  full(): never {
    this.missing(`it is longer than ${this.#maxLength.toLocaleString("en")} characters of HTML, and was cut off`);
    throw new LengthReached();
  }

  /** Markup, as it is. */
  raw(markup: string): void {
    this.#left -= markup.length;
    if (this.#left < 0) this.full();
    this.#parts.push(markup);
  }

  text(text: string): void {
    this.raw(escapeText(text));
  }

  element(name: string, text: string): void {
    this.raw(`<${name}>${escapeText(text)}</${name}>\n`);
  }

  toString(): string {
    return this.#parts.join("");
  }
}

/** Control characters that HTML does not allow become spaces. */
export function escapeText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ");
  return /[&<>]/.test(clean) ? clean.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") : clean;
}

export function escapeAttribute(text: string): string {
  return escapeText(text).replace(/"/g, "&quot;");
}

/** A link to another page; the text alone where the address is none, or points into the document itself. */
export function linked(markup: string, address: string | null | undefined): string {
  const isUrl = address !== null && address !== undefined && /^(?:https?|mailto|ftp|tel):/i.test(address.trim());
  return isUrl && markup !== "" ? `<a href="${escapeAttribute(address.trim())}">${markup}</a>` : markup;
}

const MAX_FACT = 2000;

export function wholePage(body: string, facts: DocumentFacts, about: Readonly<Record<string, string | null>>): string {
  const meta = (name: string, value: string | null | undefined, key = "name") => {
    const text = value?.trim().slice(0, MAX_FACT) ?? "";
    return text === "" ? "" : `<meta ${key}="${name}" content="${escapeAttribute(text)}">\n`;
  };
  const language = facts.language?.trim() ?? "";
  const isLanguage = /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/i.test(language);
  const title = facts.title?.trim().slice(0, MAX_FACT) ?? "";
  return [
    `<!DOCTYPE html>\n<html${isLanguage ? ` lang="${language.replaceAll("_", "-")}"` : ""}><head><meta charset="utf-8">\n`,
    title === "" ? "" : `<title>${escapeText(title)}</title>\n`,
    ...(facts.authors ?? []).map((author) => meta("author", author)),
    meta("description", facts.description),
    meta("keywords", facts.keywords),
    meta("article:published_time", facts.created, "property"),
    meta("article:modified_time", facts.modified, "property"),
    meta("generator", facts.generator),
    ...Object.entries(about).map(([name, value]) => meta(name, value)),
    `</head><body>\n${body}</body></html>\n`,
  ].join("");
}

export interface TableCell {
  /** Markup. */
  html: string;
  columns?: number;
  rows?: number;
}

/** `headers`: how many rows at the top are headings. */
export function tableOf(rows: readonly (readonly TableCell[])[], headers: number): string {
  const parts = ["<table>\n"];
  for (const [index, row] of rows.entries()) {
    const tag = index < headers ? "th" : "td";
    parts.push("<tr>");
    for (const { html, columns = 1, rows: down = 1 } of row) {
      const spans = `${columns > 1 ? ` colspan="${columns}"` : ""}${down > 1 ? ` rowspan="${down}"` : ""}`;
      parts.push(`<${tag}${spans}>${html}</${tag}>`);
    }
    parts.push("</tr>\n");
  }
  parts.push("</table>\n");
  return parts.join("");
}
