/** Validates and compiles a document request. */
import { messageOf } from "../../base/errors.ts";
import { DOCUMENT_FORMATS, type DocumentFormat, type DocumentRequest } from "../../domain/page/page-options.ts";
import { isObject } from "../../domain/text/input-reader.ts";
import { suggest } from "../../domain/text/suggest.ts";
import type { Problems } from "../rules/compile.ts";
import { compileCss, type CssQuery } from "../select/css.ts";

export interface DocumentPlan {
  formats: ReadonlySet<DocumentFormat>;
  onlyMainContent: boolean;
  include: readonly CssQuery[];
  exclude: readonly CssQuery[];
}

const KEYS = ["formats", "only_main_content", "include_tags", "exclude_tags"] as const;
const MAX_SELECTORS = 100;

/** Fills in defaults; adds errors with their paths. */
export function readDocumentRequest(input: unknown, path: string, problems: Problems): DocumentRequest {
  const request: DocumentRequest = {
    formats: ["markdown"],
    only_main_content: true,
    include_tags: [],
    exclude_tags: [],
  };
  if (!isObject(input)) {
    problems.add(path, 'expected an object, such as {"formats": ["markdown", "links"]}');
    return request;
  }
  for (const key of Object.keys(input).filter((name) => !(KEYS as readonly string[]).includes(name)))
    problems.add(`${path}.${key.slice(0, 100)}`, unknownWord("unknown key", key, KEYS));
  const { formats, only_main_content: main = true } = input;
  if (typeof main !== "boolean") problems.add(`${path}.only_main_content`, "expected true or false");
  return {
    formats: formats === undefined ? request.formats : readFormats(formats, `${path}.formats`, problems),
    only_main_content: main !== false,
    include_tags: readSelectors(input["include_tags"], `${path}.include_tags`, problems),
    exclude_tags: readSelectors(input["exclude_tags"], `${path}.exclude_tags`, problems),
  };
}

function readFormats(input: unknown, path: string, problems: Problems): DocumentFormat[] {
  if (!Array.isArray(input)) {
    problems.add(path, `expected a list of ${DOCUMENT_FORMATS.join(", ")}`);
    return [];
  }
  const known: readonly unknown[] = DOCUMENT_FORMATS;
  for (const [index, format] of input.entries()) {
    if (!known.includes(format))
      problems.add(`${path}[${index}]`, unknownWord("unknown format", String(format), DOCUMENT_FORMATS));
    else if (input.indexOf(format) < index) problems.add(`${path}[${index}]`, `"${String(format)}" appears twice`);
  }
  if (input.includes("screenshot") && input.includes("screenshot_full"))
    problems.add(path, "use either screenshot (visible part) or screenshot_full (whole page), not both");
  return input as DocumentFormat[];
}

function unknownWord(what: string, word: string, known: readonly string[]): string {
  const near = suggest(word, known);
  return `${what} "${word.slice(0, 100)}"${near === undefined ? `: known are ${known.join(", ")}` : `, did you mean "${near}"?`}`;
}

function readSelectors(input: unknown, path: string, problems: Problems): string[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > MAX_SELECTORS) {
    problems.add(path, `expected a list of at most ${MAX_SELECTORS} CSS selectors`);
    return [];
  }
  for (const [index, selector] of input.entries()) {
    try {
      if (typeof selector !== "string") throw new Error("expected a CSS selector");
      compileCss(selector);
    } catch (error) {
      problems.add(`${path}[${index}]`, messageOf(error));
    }
  }
  return input as string[];
}

export function compileDocument(input: unknown, path: string, problems: Problems): DocumentPlan | null {
  const problemCount = problems.list.length;
  const request = readDocumentRequest(input, path, problems);
  if (problems.list.length > problemCount) return null;
  return {
    formats: new Set(request.formats),
    onlyMainContent: request.only_main_content,
    include: request.include_tags.map((selector) => compileCss(selector)),
    exclude: request.exclude_tags.map((selector) => compileCss(selector)),
  };
}
