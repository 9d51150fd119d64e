import { SCOPE_LIMITS } from "../../domain/crawl-scope.ts";
import { strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { Fields, Items, NextShape, RecordSchema, Strategy } from "../shapes.ts";
import { defineTool } from "../tool.ts";

const Address = Type.String({ minLength: 1, maxLength: 8192 });
const Patterns = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: 200, description }));

/** Agents rarely read more, and say so when they do. */
const PAGES = 100;

export const crawlStart = defineTool({
  name: "crawl_start",
  title: "Start a crawl",
  description:
    "Begin a crawl that follows the links of a site in the background, and answer at once with its run_id. Obeys robots.txt and the limits of the site. crawl_status waits for it, crawl_results reads what it found, also while it runs.",
  input: strict({
    url: Type.Union([Address, Type.Array(Address, { minItems: 1, maxItems: SCOPE_LIMITS.starts })], {
      description: "where to begin: an address, or a list of them",
    }),
    max_depth: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: 2,
        description: "link hops from the beginning; 0: these pages alone",
      }),
    ),
    max_pages: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, default: PAGES, description: "pages at most" }),
    ),
    timeout_minutes: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1440, default: 30, description: "then it ends with what it has" }),
    ),
    include: Patterns("only addresses that match one of these: /blog/**, or https://example.com/blog/**"),
    exclude: Patterns("no addresses that match one of these"),
    same_site: Type.Optional(Type.Boolean({ default: true, description: "stay on the sites of the beginning" })),
    use_sitemap: Type.Optional(
      Type.Boolean({ default: false, description: "also begin with the pages of the site's sitemap" }),
    ),
    fields: Fields,
    items: Items,
    schema: RecordSchema,
    strategy: Strategy,
  }),
  output: strict({ run_id: Type.String(), status: Type.String(), next: NextShape }),
  hints: { reads: false, open: true },
  call: async ({ max_pages: pages = PAGES, ...args }, { api }) => {
    const { task_id: id, status } = await api.crawls.start({ ...args, max_pages: pages });
    return {
      run_id: id,
      status,
      next: { tool: "crawl_status", arguments: { run_id: id, wait_seconds: 45 }, why: "to see how it goes" },
    };
  },
});
