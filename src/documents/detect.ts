/** What kind of document a file is: by its bytes, then by its content type, then by its name. */
import { DocumentError, type DetectedType } from "./document.ts";
import { ZipFile } from "./zip.ts";

/** Some generators write a line before the header. */
const PDF_WITHIN = 1024;
const OLE = Buffer.from("d0cf11e0a1b11ae1", "hex");

const MIME_TYPES: readonly (readonly [string, DetectedType])[] = [
  ["application/epub+zip", "epub"],
  ["application/vnd.oasis.opendocument.text", "odt"],
  ["application/vnd.oasis.opendocument.spreadsheet", "ods"],
  ["application/vnd.oasis.opendocument.presentation", "odp"],
];

/** Null: it is no document, but perhaps a page. */
export function detectDocument(bytes: Uint8Array, contentType: string | null, name: string): DetectedType | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PDF_WITHIN));
  if (head.length === 0) return null;
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  const ending = endingOf(name);
  if (head.subarray(0, 5).toString("latin1") === "{\\rtf") return "rtf";
  if (head.readUInt8(0) === 0x50 && head.toString("latin1", 0, 2) === "PK") return zipType(bytes);
  if (head.subarray(0, 8).equals(OLE)) return "ole";
  if (isPdf(head, type)) return "pdf";
  return textType(head, type, ending);
}

function isPdf(head: Buffer, type: string): boolean {
  const at = head.indexOf("%PDF-");
  if (at <= 0 || type === "application/pdf") return at >= 0;
  // A page or a text may quote the header.
  return type !== "text/plain" && VAGUE_TYPES.has(type) && !/^\s*[<{[]/.test(head.toString("latin1"));
}

function zipType(bytes: Uint8Array): DetectedType | null {
  try {
    const zip = new ZipFile(bytes);
    const mimetype = zip.peek("mimetype", 100)?.trim();
    const declared = MIME_TYPES.find(([mime]) => mimetype?.startsWith(mime) === true)?.[1];
    if (declared !== undefined) return declared;
    if (zip.has("META-INF/container.xml") && zip.names.some((name) => name.endsWith(".opf"))) return "epub";
    if (!zip.has("[Content_Types].xml")) return null;
    if (zip.names.some((name) => name.startsWith("word/"))) return "docx";
    if (zip.names.some((name) => name.startsWith("xl/"))) return "xlsx";
    return zip.names.some((name) => name.startsWith("ppt/")) ? "pptx" : null;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return damagedZipType(bytes);
  }
}

/** A file that was cut off has no directory, but its first parts say what it was. */
function damagedZipType(bytes: Uint8Array): DetectedType | null {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64 * 1024));
  const mime = MIME_TYPES.find(([type]) => start.includes(type))?.[1];
  if (mime !== undefined) return mime;
  if (!start.includes("[Content_Types].xml") && !start.includes("_rels/.rels")) return null;
  if (start.includes("word/")) return "docx";
  if (start.includes("xl/")) return "xlsx";
  return start.includes("ppt/") ? "pptx" : null;
}

const TABLE_TYPES: ReadonlySet<string> = new Set(["text/csv", "application/csv", "text/tab-separated-values"]);
/** Content types that say nothing about a file with text. */
const VAGUE_TYPES: ReadonlySet<string> = new Set(["", "text/plain", "application/octet-stream", "binary/octet-stream"]);

function textType(head: Buffer, type: string, ending: string): DetectedType | null {
  const isMarkup = /^[\s\uFEFF]*<(?:!doctype|html|\?xml|[a-z]+[\s>])/i.test(head.toString("utf8"));
  if (isMarkup || isBinary(head)) return null;
  if (TABLE_TYPES.has(type)) return "csv";
  if (!VAGUE_TYPES.has(type)) return null;
  if (ending === "csv" || ending === "tsv") return "csv";
  // Text with its own content type is read as a page already.
  return type !== "text/plain" && (ending === "txt" || ending === "md") ? "text" : null;
}

function isBinary(head: Buffer): boolean {
  const isWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  return !isWide && head.includes(0);
}

/** In lower case; empty: none. */
function endingOf(name: string): string {
  return /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}
