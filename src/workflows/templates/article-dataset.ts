import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import { CRAWL_SCHEMA, crawlParams, SPLIT_SCHEMA } from "./shared.ts";

/** The articles of a site as a table. */
export const articleDataset: JsonValue = {
  name: "article-dataset",
  description:
    "Crawls a site and makes a table of its articles, without those that are short or say the same as others.",
  params: {
    type: "object",
    properties: {
      crawl: CRAWL_SCHEMA,
      min_words: { type: "integer", minimum: 0, default: 100, description: "Shorter articles are left out." },
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
        description: "The columns, and where their values stand in an article.",
      },
      format: {
        enum: [...RECORD_FORMATS],
        default: "jsonl",
        description: "Of the table.",
      },
      archive: {
        enum: ["zip", "tar", "tar.gz", null],
        default: null,
        description: "Packs the table, one file per part, into this.",
      },
      split: { ...SPLIT_SCHEMA, default: null },
      seed: { type: ["string", "integer"], default: 0, description: "Another one gives another division." },
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
