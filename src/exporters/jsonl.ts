import type { Exporter, ExportRecord } from "./exporter.ts";
import { inChunks } from "./stream.ts";

/** One whole record per line. */
export const jsonlExporter: Exporter = {
  name: "jsonl",
  contentType: "application/x-ndjson",
  extension: "jsonl",
  about: "one record per line as JSON; the best choice for many records",
  isText: true,
  export: (records) => inChunks(lines(records)),
};

async function* lines(records: AsyncIterable<ExportRecord>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(record)}\n`;
}
