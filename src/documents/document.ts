/** A file that is not a web page but has text: what it is, what is read from it, and why it cannot be read. */

export type DocumentType = "pdf" | "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp" | "epub" | "rtf" | "csv" | "text";

/** `ole` is the container of encrypted Office files and of those before 2007. */
export type DetectedType = DocumentType | "ole";

/** Reasons of failures, as in `FAILURE_REASONS`. */
export type DocumentProblem =
  | "document_encrypted"
  | "document_damaged"
  | "document_unsupported"
  | "document_too_large"
  | "document_timeout"
  | "needs_ocr";

export interface DocumentLimits {
  /** Of everything that is decompressed, in bytes. */
  inflatedBytes: number;
  /** Of the HTML that is made, in characters: the rest is left out. */
  htmlLength: number;
  /** Pages, slides, sheets or chapters: the rest is left out. */
  pages: number;
  /** After this, a PDF ends with the pages that were read. Shorter than the time after which its process is ended. */
  readMs: number;
}

export const DOCUMENT_LIMITS: DocumentLimits = {
  inflatedBytes: 512 * 1024 * 1024,
  // The reader threads take pages of 20 MB.
  htmlLength: 12_000_000,
  pages: 5000,
  readMs: Number.POSITIVE_INFINITY,
};

/** A document as a web page. */
export interface ReadDocument {
  type: DocumentType;
  /** A whole page: title, author and dates are in its head, PDF pages and slides are `<section data-page>`. */
  html: string;
  /** Of a PDF or a presentation; null: the format has none. */
  pageCount: number | null;
  /** Why a part of it is missing; null: all of it was read. */
  truncated: string | null;
}

export interface DocumentInput {
  bytes: Uint8Array;
  type: DetectedType;
  /** For the encoding of text files: the header, or null. */
  contentType: string | null;
}

/** The document cannot be read. The message is one sentence for the user. */
export class DocumentError extends Error {
  readonly problem: DocumentProblem;

  constructor(problem: DocumentProblem, message: string) {
    super(message);
    this.name = "DocumentError";
    this.problem = problem;
  }
}

export function damaged(message: string): DocumentError {
  return new DocumentError("document_damaged", message);
}
