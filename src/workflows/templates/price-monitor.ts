import type { JsonValue } from "../../domain/queue-item.ts";

const SOMETHING_CHANGED =
  "steps.compare.output.changed > 0 || steps.compare.output.added > 0 || steps.compare.output.removed > 0";

/** Looks at pages again and again (as a job with a schedule), and tells when something is different. */
export const priceMonitor: JsonValue = {
  name: "price-monitor",
  description: "Reads pages, compares them with the last run, and calls a webhook when something has changed.",
  params: {
    type: "object",
    properties: {
      urls: {
        title: "URLs",
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 8192 },
        minItems: 1,
        maxItems: 100,
        description: "The pages to look at.",
      },
      fields: {
        type: ["array", "object"],
        default: ["title", "price", "currency"],
        description: "What is read from them: names of well-known fields, or rules by field name.",
      },
      items: { type: ["string", "object", "null"], default: null, description: "Where the records are on a page." },
      key: {
        type: ["string", "array"],
        default: "url",
        description:
          "What makes a record the same as one of before: one of the fields, or several. With items name what each record has alone, such as title: those of one page have the same url.",
      },
      compare: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        default: ["price"],
        description: "The fields whose changes count.",
      },
      webhook_url: { type: ["string", "null"], default: null, description: "Who is told. Without it, nobody is." },
    },
    required: ["urls"],
    additionalProperties: false,
  },
  steps: [
    {
      name: "scrape",
      task_type: "scrape",
      params: {
        urls: "${{ params.urls }}",
        fields: "${{ params.fields }}",
        items: "${{ params.items }}",
        // A page that cannot be had must not look like one that is gone.
        accept_partial: false,
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
        },
      },
      estimated_duration: 1,
    },
  ],
};
