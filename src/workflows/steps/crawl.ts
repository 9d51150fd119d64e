import { CRAWL_START, CRAWL_STARTS, crawlSchemas } from "../../domain/crawl/crawl-settings.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { refuseUnlessEnded } from "../child-ends.ts";
import { writeItems } from "../items/items-file.ts";
import { recordItem } from "../items/item-keys.ts";
import { PROXY_SCHEMA } from "../proxy-param.ts";
import { headersSchema, READING_SCHEMAS } from "../reading.ts";
import type { ChildEnd, Item, StepKind } from "../step-kind.ts";

interface CrawlParams extends Record<string, JsonValue | undefined> {
  accept_partial?: boolean;
  flat?: boolean;
  max_failed_share?: number;
}

/** The output lists this many failed pages; its file has all of them. */
const NAMED = 20;
/** And a message this many. */
const MOST_SAID = 3;

/** Starts a crawl and waits for its end; its results are the outputs. */
export const crawlStep: StepKind<CrawlParams> = {
  kind: "crawl",
  about: "Crawls a site as POST /scraping/async-scrape does; its articles or records are the items.",
  params: {
    type: "object",
    properties: {
      url: { anyOf: [CRAWL_START, CRAWL_STARTS] },
      ...(crawlSchemas({ unsaved: true }) as Record<string, JsonValue>),
      strategy: { enum: ["auto", "http", "browser"] },
      ...READING_SCHEMAS,
      session_id: {
        type: ["string", "null"],
        description: "Id or name of a stored session for the origin of the start URL.",
      },
      headers: headersSchema("the origin of the start URL only"),
      proxy: PROXY_SCHEMA,
      accept_partial: {
        type: "boolean",
        description: "Whether a partial crawl completes the step. Default: true.",
      },
      flat: {
        type: "boolean",
        description:
          "Output only the records, like scrape; a failed page is an item with its reason in not_read. Default: false.",
      },
      max_failed_share: {
        type: "number",
        minimum: 0,
        maximum: 1,
        description: "Share of pages that may fail, from 0 to 1; if more fail, the step fails. Default: any share.",
      },
    },
    required: ["url"],
    additionalProperties: false,
  },
  async run(context, params) {
    const { accept_partial: acceptPartial = true, flat = false, max_failed_share: share, ...options } = params;
    const { child } = context;
    if (child === null)
      return { kind: "wait", memory: {}, child: { kind: "crawl", options: options as Record<string, JsonValue> } };
    const [pages, failed] = [child.counts["completed"] ?? 0, child.counts["failed"] ?? 0];
    const bad: JsonValue[] = [];
    const { file } = await writeItems(context.files, "failed.jsonl", failuresOf(child, bad));
    if (share !== undefined && child.status !== "cancelled") refuseUnlessEnough(pages, failed, share, bad);
    refuseUnlessEnded(child, "crawl");
    if (child.status === "partial" && !acceptPartial)
      throw new FetchFailure("step_child_failed", `the crawl is partial: ${child.message ?? child.runId}`);
    return {
      kind: "done",
      output: {
        run_id: child.runId,
        status: child.status,
        pages,
        failed,
        failed_pages: bad,
      },
      items: flat ? flatOf(child) : recordsOf(child),
      files: file === null ? [] : [file],
    };
  },
};

/** Records with their URLs. */
async function* recordsOf(child: ChildEnd): AsyncGenerator<Item> {
  for await (const { url, data } of child.results()) yield recordItem(url, data);
}

/** The results of each page; for a failed page, its failure. */
async function* flatOf(child: ChildEnd): AsyncGenerator<Item> {
  for await (const { url, data } of child.results()) {
    const { fields } = data;
    const isRecord = typeof fields === "object" && fields !== null && !Array.isArray(fields);
    yield { ...recordItem(pageOf(url, data), isRecord ? fields : data), not_read: null };
  }
  for await (const { url, error } of child.failures()) yield { url, not_read: error };
}

/** A redirect may have led to another URL. */
function pageOf(url: string, { url: landed }: Readonly<Record<string, JsonValue>>): string {
  return typeof landed === "string" ? landed : url;
}

async function* failuresOf(child: ChildEnd, named: JsonValue[]): AsyncGenerator<Item> {
  for await (const { url, error, httpStatus } of child.failures()) {
    const failed = { url, error, http_status: httpStatus };
    if (named.length < NAMED) named.push(failed);
    yield failed;
  }
}

/** Lists the failed pages, so that the reader need not look for them. */
function refuseUnlessEnough(pages: number, failed: number, share: number, bad: readonly JsonValue[]): void {
  const all = pages + failed;
  if (failed === 0 || (pages > 0 && failed / all <= share)) return;
  const examples = (bad as { url: string; error: string }[])
    .slice(0, MOST_SAID)
    .map(({ url, error }) => `${url}: ${error}`);
  const more = failed > examples.length ? `; and ${failed - examples.length} more` : "";
  const what =
    pages === 0 ? "no page could be read" : `${failed} of ${all} pages failed, and max_failed_share is ${share}`;
  throw new FetchFailure("step_child_failed", `${what}: ${examples.join("; ")}${more}`);
}
