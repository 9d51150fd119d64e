/** Whole pages and screenshots for `orb scrape`. */
import { OrbError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import type { DocumentFormat } from "../../domain/page/page-options.ts";
import { DEFAULT_FIELDS } from "../../domain/run/recipe.ts";
import type { ExportRecord } from "../../exporters/exporter.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import type { JobInput } from "../../orchestrator/jobs/input.ts";
import type { CliContext } from "../context.ts";
import { PAGE_FORMATS, type PageFormat } from "./page-formats.ts";
import type { ScrapeBackend } from "./scrape-backend.ts";

export interface DocumentOptions {
  format?: string;
  out?: string;
  screenshot?: string;
  fullPage?: boolean;
}

export function pageFormatOf({ format }: DocumentOptions): PageFormat | null {
  return PAGE_FORMATS.find((name) => name === format) ?? null;
}

/** `--json` prints the run: records in another format go to a file. */
export function refuseLostFormat(json: boolean, { format, out }: DocumentOptions): void {
  if (!json || out !== undefined || format === undefined || format === "json" || !RECORD_FORMATS.includes(format))
    return;
  throw new OrbError("usage", `--format ${format} cannot be combined with --json`, {
    hint: `Add --out FILE to write the records as ${format}, or remove one of the two options.`,
  });
}

/** Adds the document request of the options. */
export function withDocumentRequest(input: JobInput, options: DocumentOptions): JobInput {
  const printed = pageFormatOf(options);
  const picture: DocumentFormat[] =
    options.screenshot === undefined ? [] : [options.fullPage === true ? "screenshot_full" : "screenshot"];
  const formats = [...(printed === null ? [] : [printed]), ...picture];
  if (formats.length === 0) return input;
  // A screenshot alone does not change what is printed.
  const fields = printed === null ? { fields: input.fields ?? [...DEFAULT_FIELDS] } : {};
  return { ...input, ...fields, document: { formats, only_main_content: printed !== "raw_html" } };
}

interface FoundDocument {
  screenshot?: { artifact_id: string };
  [format: string]: unknown;
}

function documentOf(records: readonly ExportRecord[]): FoundDocument | null {
  return (records[0]?.data["document"] as FoundDocument | undefined) ?? null;
}

/** The page in the requested format: text as it is, URLs one per line. */
export function printedPage(records: readonly ExportRecord[], format: PageFormat): string {
  const found = documentOf(records)?.[format];
  const text = Array.isArray(found) ? found.map((line) => `${String(line)}\n`).join("") : String(found ?? "");
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

export async function writeScreenshot(
  { wiring }: CliContext,
  backend: ScrapeBackend,
  records: readonly ExportRecord[],
  path: string,
): Promise<void> {
  const id = documentOf(records)?.screenshot?.artifact_id;
  if (id === undefined) throw new Error("the page was fetched without its screenshot");
  await wiring.write(path, await backend.artifact(id));
}

/** For reading: the screenshot is in its file. */
export function withoutDocument(record: ExportRecord): ExportRecord {
  return { ...record, data: without(record.data, "document") };
}
