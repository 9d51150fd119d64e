import type { Exporter } from "./exporter.ts";

export const parquetExporter: Exporter = {
  name: "parquet",
  contentType: "application/vnd.apache.parquet",
  extension: "parquet",
  about: "typed columns for analysis",
  isText: false,
  export: async function* (records, options = {}) {
    // Loaded on use: listing the formats does not need the writer, which is slow to load.
    const { rowGroups } = await import("./parquet-columns.ts");
    yield* rowGroups(records, options);
  },
};
