import type { TOptional, TUnsafe } from "typebox";
import {
  type AgentSettingName,
  CRAWL_SETTINGS,
  CRAWL_START,
  CRAWL_STARTS,
  type CrawlSettings,
  crawlSettings,
} from "../../domain/crawl/crawl-settings.ts";
import { strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { Fields, Items, NextShape, RecordSchema, SessionId, Strategy } from "../shapes.ts";
import { defineTool } from "../tool.ts";

/** The settings offered to agents, with their own defaults. */
const offered = Object.fromEntries(
  crawlSettings.flatMap(([name, { schema, agents }]) =>
    agents === undefined ? [] : [[name, Type.Optional(Type.Unsafe({ ...schema, ...agents }))]],
  ),
) as { [K in AgentSettingName]: TOptional<TUnsafe<CrawlSettings[K]>> };

const PAGES = CRAWL_SETTINGS.max_pages.agents.default;

export const crawlStart = defineTool({
  name: "crawl_start",
  title: "Start a crawl",
  description:
    "Start a crawl in the background that follows the links of a site; returns its run_id at once. Obeys robots.txt and the limits of the site. crawl_status waits for it, crawl_results reads what it found, also while it runs.",
  input: strict({
    url: Type.Union([Type.Unsafe<string>({ ...CRAWL_START }), Type.Unsafe<string[]>({ ...CRAWL_STARTS })], {
      description: "start URL, or a list of start URLs",
    }),
    ...offered,
    keep: Type.Optional(
      Type.Boolean({
        default: false,
        description: "keep the crawl until it is deleted; by default, it is deleted a day after its end",
      }),
    ),
    fields: Fields,
    items: Items,
    schema: RecordSchema,
    strategy: Strategy,
    session_id: SessionId,
  }),
  output: strict({ run_id: Type.String(), status: Type.String(), next: NextShape }),
  role: "operator",
  hints: { reads: false, open: true },
  call: async ({ max_pages: pages = PAGES, keep = false, ...args }, { api }) => {
    // Agents read results soon and do not clean up.
    const { task_id: id, status } = await api.crawls.start({ ...args, max_pages: pages, temporary: !keep });
    return {
      run_id: id,
      status,
      next: { tool: "crawl_status", arguments: { run_id: id, wait_seconds: 45 }, why: "to see its progress" },
    };
  },
});
