import { FetchFailure } from "../../domain/run/failure.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import { ADDRESS_SCHEMA, addressesFor, distinct, FIELD_SCHEMA } from "../addresses.ts";
import { refuseUnlessEnded } from "../child-ends.ts";
import { recordItem } from "../items/item-keys.ts";
import { PROXY_SCHEMA } from "../proxy-param.ts";
import { headersSchema, READING_SCHEMAS } from "../reading.ts";
import type { ChildEnd, Item, StepContext, StepEnd, StepKind } from "../step-kind.ts";

interface ScrapeParams {
  url?: string;
  urls?: readonly string[];
  field?: string;
  accept_partial?: boolean;
  [option: string]: JsonValue | readonly string[] | undefined;
}

type ScrapeOutput = {
  pages: number;
  failed: number;
  records: number;
  /** For expressions, so that page content can control later steps. Null: none, or too long. */
  first: Readonly<Record<string, JsonValue>> | null;
};

/** Characters of JSON. */
const LONGEST_FIRST = 64 * 1024;

/** Pages are fetched one after the other, each as a separate run; for many, use a crawl or for_each. */
const MOST_PAGES = 100;

export const scrapeStep: StepKind<ScrapeParams> = {
  kind: "scrape",
  about: "Fetches one page, or a few one after the other, like a job; their records are the items.",
  params: {
    type: "object",
    properties: {
      url: ADDRESS_SCHEMA,
      urls: { type: "array", items: ADDRESS_SCHEMA, minItems: 1, maxItems: MOST_PAGES },
      field: FIELD_SCHEMA,
      ...READING_SCHEMAS,
      strategy: { enum: ["auto", "http", "browser", "api_replay"] },
      requires_auth: { type: "boolean" },
      session_id: { type: ["string", "null"], description: "Id or name of a stored session." },
      max_attempts: {
        type: ["integer", "null"],
        minimum: 1,
        maximum: 1000,
        description:
          "Attempts per page within one attempt of the step. Default: 3. max_retries of the step repeats all of them.",
      },
      escalate: { type: "boolean" },
      respect_robots: { type: "boolean" },
      documents: {
        type: "boolean",
        description: "Whether a document, such as a PDF, is read. Default: true; false: it fails as not_html.",
      },
      headers: headersSchema("the pages, which must share one origin"),
      proxy: PROXY_SCHEMA,
      timeout_seconds: { type: ["number", "null"], exclusiveMinimum: 0, maximum: 3600 },
      replay: { description: "The request for strategy api_replay, as in a job." },
      accept_partial: {
        type: "boolean",
        description: "With several pages: whether the step completes although some pages failed. Default: true.",
      },
    },
    not: { required: ["url", "urls"] },
    additionalProperties: false,
  },
  async run(context, params) {
    const { url, urls, field = "url", accept_partial: acceptPartial = true, ...options } = params;
    const named = url === undefined ? urls : [url];
    const pages = await pagesOf(context, named, field);
    if (options["headers"] !== undefined && options["headers"] !== null) refuseSeveralOrigins(pages);
    const last = context.child;
    // With one page its failure is the step's failure; with several, the others may be enough.
    if (last !== null && (pages.length === 1 || !acceptPartial)) refuseUnlessEnded(last, "page");
    if (last?.status === "cancelled") refuseUnlessEnded(last, "page");
    const next = pages[context.children.length];
    if (next !== undefined) {
      context.progress(context.children.length, pages.length);
      const child = { kind: "page", url: next, options: options as Record<string, JsonValue> } as const;
      return { kind: "wait", memory: {}, child };
    }
    return endOf(context.children);
  },
};

/** Headers are often credentials: links of a foreign page must not receive them. */
function refuseSeveralOrigins(pages: readonly string[]): void {
  const origins = new Set(pages.map((page) => URL.parse(page)?.origin));
  if (origins.size > 1)
    throw new FetchFailure(
      "step_params",
      `headers are sent to one origin only, but the pages have ${origins.size}; use one step per origin`,
    );
}

async function pagesOf(
  context: StepContext,
  named: readonly string[] | undefined,
  field: string,
): Promise<readonly string[]> {
  const pages: string[] = [];
  for await (const { url, text } of distinct(addressesFor(context, named, field))) {
    if (url === null)
      throw new FetchFailure("step_params", `${withoutSecrets(text).slice(0, 200)} is not an http or https URL`);
    if (pages.length === MOST_PAGES)
      throw new FetchFailure(
        "step_params",
        `more than ${MOST_PAGES} pages: use a crawl with max_depth 0, or for_each, which fetches several at once`,
      );
    pages.push(url);
  }
  return pages;
}

function endOf(children: readonly ChildEnd[]): StepEnd {
  const good = children.filter(({ status }) => status === "completed");
  const [first] = children;
  if (good.length === 0 && first !== undefined) refuseUnlessEnded(first, "page");
  const output: ScrapeOutput = { pages: good.length, failed: children.length - good.length, records: 0, first: null };
  return {
    kind: "done",
    output: children.length === 1 ? Object.assign(output, { run_id: first!.runId }) : output,
    items: recordsOf(good, output),
  };
}

async function* recordsOf(children: readonly ChildEnd[], output: ScrapeOutput): AsyncGenerator<Item> {
  for (const child of children) {
    for await (const { url, data } of child.results()) {
      output.records += 1;
      if (output.records === 1 && JSON.stringify(data).length <= LONGEST_FIRST) output.first = data;
      yield recordItem(url, data);
    }
  }
}
