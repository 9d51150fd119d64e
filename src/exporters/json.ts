import type { Exporter, ExportRecord } from "./exporter.ts";
import { inChunks } from "./stream.ts";

/** One JSON array of whole records, one per line, written as they come. */
export const jsonExporter: Exporter = {
  name: "json",
  contentType: "application/json",
  extension: "json",
  about: "one JSON array of whole records",
  isText: true,
  export: (records) => inChunks(texts(records)),
};

async function* texts(records: AsyncIterable<ExportRecord>): AsyncGenerator<string> {
  let before = "[\n";
  for await (const record of records) {
    // JSON.stringify writes half a surrogate pair as an escape, so that every string survives.
    yield `${before}${JSON.stringify(record)}`;
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}
