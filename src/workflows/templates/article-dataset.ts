import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import { CRAWL_SCHEMA, crawlParams, SPLIT_SCHEMA } from "./shared.ts";

/** The articles of a site as a table. */
export const articleDataset: JsonValue = {
  name: "article-dataset",
  description: "Crawls a site and exports its articles as a table, without short articles and near-duplicates.",
  params: {
    type: "object",
    properties: {
      crawl: CRAWL_SCHEMA,
      min_words: {
        type: "integer",
        minimum: 0,
        default: 100,
        description: "Minimum number of words; shorter articles are dropped.",
      },
      fields: {
        type: "object",
        additionalProperties: { type: "string" },
        default: {
          url: "url",
          title: "title",
          author: "author",
          published_at: "published_at",
          language: "language",
          word_count: "word_count",
          text: "text",
        },
        description: "Columns of the table: column name and article field.",
      },
      format: {
        enum: [...RECORD_FORMATS],
        default: "jsonl",
        description: "Format of the table.",
      },
      archive: {
        enum: ["zip", "tar", "tar.gz", null],
        default: null,
        description: "Archive format; the archive has one table per split.",
      },
      split: { ...SPLIT_SCHEMA, default: null },
      seed: { type: ["string", "integer"], default: 0, description: "Random seed of the split." },
    },
    required: ["crawl"],
    additionalProperties: false,
  },
  steps: [
    { name: "crawl", task_type: "crawl", params: crawlParams, estimated_duration: 300 },
    {
      name: "export",
      task_type: "export",
      dependencies: ["crawl"],
      params: {
        format: "${{ params.format }}",
        archive: "${{ params.archive }}",
        fields: "${{ params.fields }}",
        where: { fields: { word_count: { min: "${{ params.min_words }}" } } },
        unique: "content_hash",
        split: "${{ params.split }}",
        seed: "${{ params.seed }}",
      },
      estimated_duration: 20,
    },
  ],
};
