import type { TOptional, TUnsafe } from "typebox";
import { CRAWL_SETTINGS, CRAWL_START, CRAWL_STARTS, type CrawlSettings } from "../../domain/crawl/crawl-settings.ts";
import { strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { Fields, Items, NextShape, RecordSchema, SessionId, Strategy } from "../shapes.ts";
import { defineTool } from "../tool.ts";

/** A setting as the API has it, with what is different for agents. */
function setting<Name extends keyof CrawlSettings>(name: Name, more: object): TOptional<TUnsafe<CrawlSettings[Name]>> {
  return Type.Optional(Type.Unsafe<CrawlSettings[Name]>({ ...CRAWL_SETTINGS[name], ...more }));
}

/** Agents rarely read more, and say so when they do. */
const PAGES = 100;

export const crawlStart = defineTool({
  name: "crawl_start",
  title: "Start a crawl",
  description:
    "Begin a crawl that follows the links of a site in the background, and answer at once with its run_id. Obeys robots.txt and the limits of the site. crawl_status waits for it, crawl_results reads what it found, also while it runs.",
  input: strict({
    url: Type.Union([Type.Unsafe<string>({ ...CRAWL_START }), Type.Unsafe<string[]>({ ...CRAWL_STARTS })], {
      description: "where to begin: an address, or a list of them",
    }),
    max_depth: setting("max_depth", {
      maximum: 100,
      default: 2,
      description: "link hops from the beginning; 0: these pages alone",
    }),
    max_pages: setting("max_pages", { maximum: 100_000, default: PAGES, description: "pages at most" }),
    timeout_minutes: setting("timeout_minutes", {
      maximum: 1440,
      default: 30,
      description: "then it ends with what it has",
    }),
    include: setting("include", {
      description: "only addresses that match one of these: /blog/**, or https://example.com/blog/**",
    }),
    exclude: setting("exclude", { description: "no addresses that match one of these" }),
    follow: setting("follow", {
      description: "besides include: addresses that only lead to others, such as /page/**; they give no records",
    }),
    read: setting("read", { description: "only addresses that match one of these give records; others are followed" }),
    same_site: setting("same_site", { default: true, description: "stay on the sites of the beginning" }),
    use_sitemap: setting("use_sitemap", {
      default: false,
      description: "also begin with the pages of the site's sitemap",
    }),
    keep: Type.Optional(
      Type.Boolean({
        default: false,
        description: "keep the crawl until somebody deletes it; without it, it is removed a day after its end",
      }),
    ),
    fields: Fields,
    items: Items,
    schema: RecordSchema,
    strategy: Strategy,
    session_id: SessionId,
  }),
  output: strict({ run_id: Type.String(), status: Type.String(), next: NextShape }),
  hints: { reads: false, open: true },
  call: async ({ max_pages: pages = PAGES, keep = false, ...args }, { api }) => {
    // Agents read what they have asked for soon, and nobody clears up behind them.
    const { task_id: id, status } = await api.crawls.start({ ...args, max_pages: pages, temporary: !keep });
    return {
      run_id: id,
      status,
      next: { tool: "crawl_status", arguments: { run_id: id, wait_seconds: 45 }, why: "to see how it goes" },
    };
  },
});
