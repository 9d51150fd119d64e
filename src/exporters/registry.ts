/** All export formats. To add one, add a file here and an entry in a list. */
import { OrbError } from "../base/errors.ts";
import { suggest } from "../domain/text/suggest.ts";
import { csvExcelExporter, csvExporter } from "./csv.ts";
import type { Archiver, Exporter, Format } from "./exporter.ts";
import { jsonExporter } from "./json.ts";
import { jsonlExporter } from "./jsonl.ts";
import { markdownExporter } from "./markdown.ts";
import { markdownZipExporter } from "./markdown-pages.ts";
import { parquetExporter } from "./parquet.ts";
import { warcArchiver } from "./warc.ts";

export const EXPORTERS: readonly Exporter[] = [
  jsonExporter,
  jsonlExporter,
  csvExporter,
  csvExcelExporter,
  markdownExporter,
  markdownZipExporter,
  parquetExporter,
];

const ARCHIVERS: readonly Archiver[] = [warcArchiver];

/** Formats made of records. */
export const RECORD_FORMATS: readonly string[] = EXPORTERS.map(({ name }) => name);
export const EXPORT_FORMATS: readonly string[] = [...RECORD_FORMATS, ...ARCHIVERS.map(({ name }) => name)];

/** Throws an error with the field and the available formats when the name is unknown. */
export function formatNamed(name: string, field = "format"): Exporter | Archiver {
  return named([...EXPORTERS, ...ARCHIVERS], name, field);
}

/** As `formatNamed`, among record formats only. */
export function exporterNamed(name: string, field = "format"): Exporter {
  return named(EXPORTERS, name, field);
}

function named<T extends Format>(formats: readonly T[], name: string, field: string): T {
  const found = formats.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = formats.map((format) => format.name);
  const near = suggest(name, names);
  const message =
    near === undefined ? `expected one of ${names.join(", ")}` : `unknown format, did you mean "${near}"?`;
  throw new OrbError("input_invalid", `${field}: ${message}`, { fields: [{ path: field, message }] });
}
