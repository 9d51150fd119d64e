import type { Exporter, ExportOptions, ExportRecord } from "./exporter.ts";
import { inChunks, plainRecord } from "./stream.ts";

/** One JSON array, one record per line, streamed. */
export const jsonExporter: Exporter = {
  name: "json",
  contentType: "application/json",
  extension: "json",
  about: "one JSON array of all records",
  isText: true,
  export: (records, options = {}) => inChunks(texts(records, options)),
};

async function* texts(records: AsyncIterable<ExportRecord>, { plain }: ExportOptions): AsyncGenerator<string> {
  let before = "[\n";
  for await (const record of records) {
    // JSON.stringify escapes lone surrogates, so that every string survives.
    yield `${before}${JSON.stringify(plain === true ? plainRecord(record) : record)}`;
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}
