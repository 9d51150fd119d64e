import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import { ADDRESS_SCHEMA } from "../addresses.ts";

const SOMETHING_CHANGED =
  "steps.compare.output.changed > 0 || steps.compare.output.added > 0 || steps.compare.output.removed > 0";

/** Checks pages repeatedly (as a job with a schedule), and notifies when something changes. */
export const priceMonitor: JsonValue = {
  name: "price-monitor",
  description:
    "Reads pages, compares them with the previous run, exports a table, and calls a webhook when something changed.",
  params: {
    type: "object",
    properties: {
      urls: {
        title: "URLs",
        type: "array",
        items: ADDRESS_SCHEMA,
        minItems: 1,
        maxItems: 10_000,
        description: "Pages to monitor, at most 10,000.",
      },
      fields: {
        type: ["array", "object"],
        default: ["title", "price", "currency"],
        description: "Fields to extract: names of well-known fields, or a selector for each name.",
      },
      items: {
        type: ["string", "object", "null"],
        default: null,
        description: "Selector of the records, if a page has several.",
      },
      key: {
        type: ["string", "array"],
        default: "url",
        description:
          "Field or fields that identify a record across runs. With items, choose a field that differs between the records of a page, such as title.",
      },
      compare: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        default: ["price"],
        description: "Fields to compare.",
      },
      max_failed_share: {
        type: "number",
        minimum: 0,
        maximum: 1,
        default: 0.2,
        description:
          "Share of pages that may fail, from 0 to 1. Failed pages are reported and compared in a later run; beyond this share the run fails.",
      },
      respect_robots: {
        type: "boolean",
        default: false,
        description: "Skip pages that robots.txt disallows.",
      },
      format: { enum: [...RECORD_FORMATS], default: "csv", description: "Format of the file with all records." },
      webhook_url: {
        type: ["string", "null"],
        default: null,
        description: "Called when something changes. Empty: no notification.",
      },
    },
    required: ["urls"],
    additionalProperties: false,
  },
  steps: [
    {
      name: "scrape",
      task_type: "crawl",
      params: {
        url: "${{ params.urls }}",
        max_depth: 0,
        max_pages: 10_000,
        follow_links: false,
        documents: false,
        timeout_minutes: 1440,
        fields: "${{ params.fields }}",
        items: "${{ params.items }}",
        respect_robots: "${{ params.respect_robots }}",
        flat: true,
        max_failed_share: "${{ params.max_failed_share }}",
      },
      estimated_duration: 30,
    },
    {
      name: "compare",
      task_type: "compare",
      dependencies: ["scrape"],
      params: { key: "${{ params.key }}", fields: "${{ params.compare }}" },
      estimated_duration: 1,
    },
    {
      name: "export",
      task_type: "export",
      dependencies: ["compare"],
      params: { format: "${{ params.format }}", name: "prices" },
      estimated_duration: 1,
    },
    {
      name: "notify",
      task_type: "webhook",
      dependencies: ["compare"],
      when: `params.webhook_url != null && (${SOMETHING_CHANGED})`,
      params: {
        url: "${{ params.webhook_url }}",
        body: {
          changed: "${{ steps.compare.output.changed }}",
          added: "${{ steps.compare.output.added }}",
          removed: "${{ steps.compare.output.removed }}",
          changes: "${{ steps.compare.output.changes }}",
          failed: "${{ steps.scrape.output.failed }}",
          failed_pages: "${{ steps.scrape.output.failed_pages }}",
        },
      },
      estimated_duration: 1,
    },
  ],
};
