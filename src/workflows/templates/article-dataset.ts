import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import { PRESETS } from "../texts/quality-rules.ts";
import { CRAWL_SCHEMA, crawlParams, SPLIT_SCHEMA } from "./shared.ts";

/** The articles of a site as a table. */
export const articleDataset: JsonValue = {
  name: "article-dataset",
  description: "Crawls a site and exports its articles as a table, without short or poor articles and near-duplicates.",
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
      languages: {
        type: ["array", "null"],
        items: { type: "string" },
        minItems: 1,
        default: null,
        description: "Languages of the articles, such as en; others are dropped. Empty: all.",
      },
      quality: {
        type: ["array", "null"],
        items: { enum: Object.keys(PRESETS) },
        default: null,
        description: "Published rules that drop poor texts: gopher, fineweb, or both. Empty: none.",
      },
      similarity: {
        type: ["number", "null"],
        minimum: 0.5,
        maximum: 1,
        default: 0.8,
        description: "Jaccard similarity from which articles are duplicates. Empty: only the same content.",
      },
      keep: {
        enum: ["first", "longest", "newest"],
        default: "first",
        description: "Which of several similar articles to keep.",
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
      card: {
        type: ["object", "null"],
        default: null,
        description: "What the data card says of the dataset: description, license, url, creator, citation, version, published.",
      },
    },
    required: ["crawl"],
    additionalProperties: false,
  },
  steps: [
    { name: "crawl", task_type: "crawl", params: crawlParams, estimated_duration: 300 },
    {
      name: "filter",
      task_type: "filter",
      dependencies: ["crawl"],
      params: {
        min_words: "${{ params.min_words }}",
        languages: "${{ params.languages }}",
        presets: "${{ params.quality }}",
      },
      estimated_duration: 10,
    },
    {
      name: "deduplicate",
      task_type: "deduplicate",
      dependencies: ["filter"],
      when: "${{ params.similarity != null }}",
      params: {
        text: "text",
        threshold: "${{ params.similarity }}",
        keep: "${{ params.keep }}",
      },
      estimated_duration: 10,
    },
    {
      name: "export",
      task_type: "export",
      dependencies: ["deduplicate"],
      params: {
        format: "${{ params.format }}",
        archive: "${{ params.archive }}",
        fields: "${{ params.fields }}",
        unique: "content_hash",
        split: "${{ params.split }}",
        seed: "${{ params.seed }}",
        card: "${{ params.card }}",
      },
      estimated_duration: 20,
    },
  ],
};
