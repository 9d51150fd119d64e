import { SCOPE_LIMITS } from "../../domain/crawl-scope.ts";
import { FetchFailure } from "../../domain/failure.ts";
import type { JsonValue } from "../../domain/queue-item.ts";
import { refuseUnlessEnded } from "../child-ends.ts";
import { recordItem } from "../item-keys.ts";
import { PROXY_SCHEMA } from "../proxy-param.ts";
import { READING_SCHEMAS } from "../reading.ts";
import type { ChildEnd, Item, StepKind } from "../step-kind.ts";

interface CrawlParams extends Record<string, JsonValue | undefined> {
  accept_partial?: boolean;
}

const PATTERNS = { type: "array", items: { type: "string", minLength: 1, maxLength: 2000 }, maxItems: 200 };
const START = { type: "string", minLength: 1, maxLength: 8192 };

/** Starts a crawl and waits for its end; what it found are the items. */
export const crawlStep: StepKind<CrawlParams> = {
  kind: "crawl",
  about: "Crawls a site as POST /scraping/async-scrape does; its articles or records are the items.",
  params: {
    type: "object",
    properties: {
      url: { anyOf: [START, { type: "array", items: START, minItems: 1, maxItems: SCOPE_LIMITS.starts }] },
      max_depth: { type: "integer", minimum: 0, maximum: 1000 },
      max_pages: { type: "integer", minimum: 1, maximum: 10_000_000 },
      timeout_minutes: { type: "number", exclusiveMinimum: 0, maximum: 100_000 },
      max_concurrent_articles: { type: "integer", minimum: 1, maximum: 10_000 },
      retry_attempts: { type: "integer", minimum: 0, maximum: 1000 },
      partial_results_ok: { type: "boolean" },
      include: PATTERNS,
      exclude: PATTERNS,
      same_site: { type: "boolean" },
      stay_within: { enum: ["site", "host", "path"] },
      follow_links: { type: "boolean" },
      delay_seconds: { type: "number", minimum: 0, maximum: 3600 },
      use_sitemap: { type: "boolean" },
      strategy: { enum: ["auto", "http", "browser"] },
      ...READING_SCHEMAS,
      article: { type: ["boolean", "null"] },
      respect_robots: { type: "boolean" },
      proxy: PROXY_SCHEMA,
      accept_partial: {
        type: "boolean",
        description: "Whether a crawl that ended in part completes the step. True unless told.",
      },
    },
    required: ["url"],
    additionalProperties: false,
  },
  async run(context, { accept_partial: acceptPartial = true, ...options }) {
    const { child } = context;
    if (child === null)
      return { kind: "wait", memory: {}, child: { kind: "crawl", options: options as Record<string, JsonValue> } };
    refuseUnlessEnded(child, "crawl");
    if (child.status === "partial" && !acceptPartial)
      throw new FetchFailure("step_child_failed", `the crawl ended in part: ${child.message ?? child.runId}`);
    return {
      kind: "done",
      output: {
        run_id: child.runId,
        status: child.status,
        pages: child.counts["completed"] ?? 0,
        failed: child.counts["failed"] ?? 0,
      },
      items: recordsOf(child),
    };
  },
};

/** Records with the address they are of. */
async function* recordsOf(child: ChildEnd): AsyncGenerator<Item> {
  for await (const { url, data } of child.results()) yield recordItem(url, data);
}
