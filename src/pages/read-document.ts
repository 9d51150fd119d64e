/** Documents that a page's URL leads to: a PDF or a spreadsheet becomes HTML, and is read like any page. */
import { detectDocument } from "../documents/detect.ts";
import { DocumentError, type DetectedType } from "../documents/document.ts";
import type { DocumentReader } from "../documents/reader.ts";
import { type Failure, failure } from "../domain/run/failure.ts";
import type { PageAnswer } from "../fetch/page.ts";

export interface ReadsDocuments {
  /** Absent: documents are not read. */
  documents?: DocumentReader;
}

/** The content type of a document's HTML; its parameter says that all of it is content. */
function documentContentType(type: string): string {
  return `text/html; charset=utf-8; document=${type}`;
}

/** The answer with the HTML of its document, or unchanged when it has none. */
export async function asPage(
  { documents }: ReadsDocuments,
  answer: PageAnswer,
  signal: AbortSignal,
  beforeRead: () => void = () => {},
): Promise<{ answer: PageAnswer; failure: Failure | null }> {
  const { body, contentType, finalUrl, status } = answer;
  if (documents === undefined || typeof body === "string" || status !== 200 || answer.notFollowed !== undefined)
    return { answer, failure: null };
  const type = detectDocument(body, contentType, nameOf(finalUrl, answer.headers));
  if (type === null) return { answer, failure: null };
  beforeRead();
  try {
    const read = await documents.read(body, type, { contentType, signal });
    const document = { type: read.type, body, contentType, truncated: read.truncated };
    return {
      answer: { ...answer, body: read.html, contentType: documentContentType(read.type), document },
      failure: null,
    };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { answer, failure: documentFailure(error, type, status) };
  }
}

function documentFailure({ problem, message }: DocumentError, type: DetectedType, httpStatus?: number): Failure {
  const what = type === "ole" ? "the Office file" : `the ${type.toUpperCase()} file`;
  return failure(problem, `${what} cannot be read: ${message}`, httpStatus === undefined ? {} : { httpStatus });
}

/** The name under which the server offers it, else the end of its path. */
function nameOf(url: string, headers: Readonly<Record<string, string>>): string {
  const offered = /filename="?([^";]+)"?/i.exec(headers["content-disposition"] ?? "")?.[1];
  return offered ?? URL.parse(url)?.pathname ?? "";
}
