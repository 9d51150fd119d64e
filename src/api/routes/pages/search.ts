import { MAX_DOMAINS, MAX_RESULTS, SEARCH_SOURCES, searchWeb, TIME_RANGES } from "../../../orchestrator/search.ts";
import { OrbError } from "../../../base/errors.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { untilCallerLeaves } from "./page-source.ts";

/** All pages of results of all sources. */
const MOST_MS = 60_000;
const TOO_SLOW = `the search server did not answer within ${MOST_MS / 1000} s (timeout): ask for fewer results or sources`;

const Domains = Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: MAX_DOMAINS });

export const SearchOrder = strict({
  query: Type.String({ minLength: 1, maxLength: 500, description: "what to search for" }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_RESULTS, description: "results per source; default: 10" }),
  ),
  sources: Type.Optional(
    Type.Array(oneOf(SEARCH_SOURCES), { minItems: 1, maxItems: 3, description: 'what to search; default: ["web"]' }),
  ),
  language: Type.Optional(
    Type.String({ pattern: "^[a-z]{2,3}(-[A-Za-z]{2,4})?$", description: "such as en or de-AT; default: any" }),
  ),
  time_range: Type.Optional(oneOf(TIME_RANGES, { description: "how old a result may be" })),
  include_domains: Type.Optional({ ...Domains, description: "only results of these domains" }),
  exclude_domains: Type.Optional({ ...Domains, description: "no results of these domains" }),
});

const Found = Type.Array(
  strict({
    url: Type.String(),
    title: Type.String(),
    description: Type.String(),
    published: nullable(Type.String({ description: "as the search server says it" })),
    image: nullable(Type.String()),
    resolution: nullable(Type.String({ description: "of the image, such as 1200x800" })),
  }),
);

export function searchRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/search",
    {
      config: { role: "operator" },
      schema: {
        operationId: "searchWeb",
        tags: ["search"],
        summary: "Search the web",
        description:
          "Searches through the SearXNG of the operator (APP_SEARCH_URL). Nothing is stored. To read the results, start a crawl with their URLs and max_depth 0.",
        body: SearchOrder,
        response: {
          200: strict({
            web: Found,
            news: Found,
            images: Found,
            warnings: Type.Array(Type.String(), { description: "such as engines that did not answer" }),
          }),
          502: problemAnswer(
            "`search_unavailable`: no search server is configured, or it refused; the message says what to do",
          ),
        },
      },
    },
    async (request, reply) => {
      const { language, time_range: timeRange, include_domains, exclude_domains, ...order } = request.body;
      const late = AbortSignal.timeout(MOST_MS);
      const { found, warnings } = await searchWeb(
        await deps.search(),
        {
          query: order.query,
          sources: order.sources ?? ["web"],
          limit: order.limit ?? 10,
          ...(language === undefined ? {} : { language }),
          ...(timeRange === undefined ? {} : { timeRange }),
          ...(include_domains === undefined ? {} : { includeDomains: include_domains }),
          ...(exclude_domains === undefined ? {} : { excludeDomains: exclude_domains }),
        },
        AbortSignal.any([late, untilCallerLeaves(reply)]),
      ).catch((error: unknown) => {
        if (late.aborted) throw new OrbError("search_unavailable", TOO_SLOW, { cause: error });
        throw error;
      });
      return { web: [], news: [], images: [], ...found, warnings };
    },
  );
}
