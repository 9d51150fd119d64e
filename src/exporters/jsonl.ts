import type { Exporter, ExportOptions, ExportRecord } from "./exporter.ts";
import { inChunks, plainRecord } from "./stream.ts";

/** One record per line. */
export const jsonlExporter: Exporter = {
  name: "jsonl",
  contentType: "application/x-ndjson",
  extension: "jsonl",
  about: "one record per line as JSON; the best choice for many records",
  isText: true,
  export: (records, options = {}) => inChunks(lines(records, options)),
};

async function* lines(records: AsyncIterable<ExportRecord>, { plain }: ExportOptions): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(plain === true ? plainRecord(record) : record)}\n`;
}
