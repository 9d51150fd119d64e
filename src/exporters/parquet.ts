import type { Exporter } from "./exporter.ts";

export const parquetExporter: Exporter = {
  name: "parquet",
  contentType: "application/vnd.apache.parquet",
  extension: "parquet",
  about: "typed columns for analysis",
  isText: false,
  export: async function* (records, options = {}) {
    // Whoever only asks which formats there are does without the writer, which takes a while to load.
    const { rowGroups } = await import("./parquet-columns.ts");
    yield* rowGroups(records, options);
  },
};
