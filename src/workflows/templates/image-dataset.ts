import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { CRAWL_SCHEMA, crawlParams, SPLIT_SCHEMA } from "./shared.ts";

/** Images from URLs or a crawl: validated, deduplicated, labelled, and archived with a manifest. */
export const imageDataset: JsonValue = {
  name: "image-dataset",
  description:
    "Downloads images from a list of URLs or a crawl, drops broken, small and duplicate ones, labels the rest and packs them with a manifest.",
  params: {
    type: "object",
    properties: {
      urls: {
        title: "Image URLs",
        type: ["array", "null"],
        items: { type: "string", minLength: 1, maxLength: 8192 },
        minItems: 1,
        maxItems: 100_000,
        default: null,
        description: "URLs of image files. Leave empty to find images with a crawl.",
      },
      crawl: { ...CRAWL_SCHEMA, type: ["object", "null"], default: null },
      min_width: {
        type: "integer",
        minimum: 1,
        default: 64,
        description: "Minimum width in pixels; smaller images are dropped.",
      },
      min_height: {
        type: "integer",
        minimum: 1,
        default: 64,
        description: "Minimum height in pixels; smaller images are dropped.",
      },
      max_failed_ratio: {
        type: "number",
        minimum: 0,
        maximum: 1,
        default: 1,
        description: "Share of downloads that may fail, from 0 to 1.",
      },
      distance: {
        type: "integer",
        minimum: 0,
        maximum: 16,
        default: 5,
        description: "Maximum perceptual-hash distance of duplicates; 0: only files with the same bytes.",
      },
      label: { type: ["string", "null"], default: null, description: "One label for all images." },
      rules: { type: ["array", "null"], default: null, description: "Label rules, as in the label step." },
      endpoint: { type: ["string", "object", "null"], default: null, description: "URL of your labelling model." },
      label_from: {
        type: "string",
        default: "folder",
        description: "Source of labels without label, rules or endpoint: folder, host, search_term or field:PATH.",
      },
      split: { ...SPLIT_SCHEMA, default: { train: 0.8, val: 0.1, test: 0.1 } },
      seed: { type: ["string", "integer"], default: 0, description: "Random seed of the split." },
      stratify: { type: "boolean", default: true, description: "Apply the split to each label separately." },
      format: { enum: ["jsonl", "csv", "parquet", "json"], default: "jsonl", description: "Format of the manifest." },
      archive: { enum: ["zip", "tar", "tar.gz"], default: "zip", description: "Archive format." },
    },
    oneOf: [
      { properties: { urls: { type: "array" }, crawl: { type: "null" } } },
      { properties: { urls: { type: "null" }, crawl: { type: "object" } } },
    ],
    errorMessage: { oneOf: "set either urls or crawl" },
    additionalProperties: false,
  },
  steps: [
    {
      name: "crawl",
      task_type: "crawl",
      when: "params.crawl != null",
      params: { ...crawlParams, fields: ["images"], article: false, documents: false },
      estimated_duration: 300,
    },
    {
      name: "download",
      task_type: "download",
      dependencies: ["crawl"],
      params: {
        urls: "${{ params.urls }}",
        field: "fields.images",
        max_failed_ratio: "${{ params.max_failed_ratio }}",
      },
      estimated_duration: 300,
    },
    {
      name: "validate",
      task_type: "validate",
      dependencies: ["download"],
      params: { kind: "image", min_width: "${{ params.min_width }}", min_height: "${{ params.min_height }}" },
      estimated_duration: 60,
    },
    {
      name: "deduplicate",
      task_type: "deduplicate",
      dependencies: ["validate"],
      params: { distance: "${{ params.distance }}" },
      estimated_duration: 20,
    },
    {
      name: "label",
      task_type: "label",
      dependencies: ["deduplicate"],
      params: {
        label: "${{ params.label }}",
        rules: "${{ params.rules }}",
        endpoint: "${{ params.endpoint }}",
        from: "${{ params.label == null && params.rules == null && params.endpoint == null ? params.label_from : null }}",
      },
      estimated_duration: 20,
    },
    {
      name: "export",
      task_type: "export",
      dependencies: ["label"],
      params: {
        images: true,
        format: "${{ params.format }}",
        archive: "${{ params.archive }}",
        split: "${{ params.split }}",
        seed: "${{ params.seed }}",
        stratify: "${{ params.stratify }}",
      },
      estimated_duration: 60,
    },
  ],
};
