/** All result formats. A new one is a file beside this one and a line in the list. */
import { OrbError } from "../base/errors.ts";
import { suggest } from "../domain/suggest.ts";
import { csvExporter } from "./csv.ts";
import type { Exporter } from "./exporter.ts";
import { jsonExporter } from "./json.ts";
import { jsonlExporter } from "./jsonl.ts";
import { markdownExporter } from "./markdown.ts";
import { parquetExporter } from "./parquet.ts";

export const EXPORTERS: readonly Exporter[] = [
  jsonExporter,
  jsonlExporter,
  csvExporter,
  markdownExporter,
  parquetExporter,
];

export const EXPORT_FORMATS: readonly string[] = EXPORTERS.map(({ name }) => name);

/** The format of that name, or an error that names the field and the formats there are. */
export function exporterNamed(name: string, field = "format"): Exporter {
  const found = EXPORTERS.find((exporter) => exporter.name === name);
  if (found !== undefined) return found;
  const near = suggest(name, EXPORT_FORMATS);
  const message =
    near === undefined ? `expected one of ${EXPORT_FORMATS.join(", ")}` : `unknown format, did you mean "${near}"?`;
  throw new OrbError("input_invalid", `${field}: ${message}`, { fields: [{ path: field, message }] });
}
