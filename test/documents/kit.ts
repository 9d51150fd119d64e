import { DOCUMENT_LIMITS, type DocumentLimits, type ReadDocument } from "../../src/documents/document.ts";
import { detectDocument } from "../../src/documents/detect.ts";
import { readDocument } from "../../src/documents/read.ts";
import { extractPage, type Extraction } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";

export const FIELDS = [
  "title",
  "author",
  "published_at",
  "language",
  "text",
  "markdown",
  "links",
  "headings",
  "tables",
];

/** Reads a document in this process, and what a page is from it. */
export async function read(bytes: Buffer, name = "", limits: Partial<DocumentLimits> = {}): Promise<ReadDocument> {
  const type = detectDocument(bytes, null, name);
  if (type === null) throw new Error("it is not seen as a document");
  return readDocument({ bytes, type, contentType: null }, { ...DOCUMENT_LIMITS, ...limits });
}

export interface Page {
  title: string | null;
  author: string | null;
  published_at: string | null;
  language: string | null;
  text: string;
  markdown: string;
  links: string[];
  headings: { level: number; text: string }[];
  tables: string[][][];
  metadata: Record<string, unknown>;
}

export function pageOf({ html, type }: ReadDocument): Page {
  const contentType = `text/html; charset=utf-8; document=${type}`;
  const plan = compilePlan({ fields: FIELDS, document: { formats: [] } });
  const extraction: Extraction = extractPage({ body: html, contentType, url: "https://example.com/file" }, plan);
  return { ...extraction.records[0], metadata: extraction.document!.metadata } as unknown as Page;
}

export async function readPage(bytes: Buffer, name = ""): Promise<Page> {
  return pageOf(await read(bytes, name));
}
