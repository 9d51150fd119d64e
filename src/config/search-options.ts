/** Options of web search, part of the table of all options. */
import { option, optional } from "./option.ts";
import * as type from "./types.ts";

export const SEARCH_OPTIONS = {
  searchUrl: optional({
    name: "APP_SEARCH_URL",
    type: type.url(["http", "https"]),
    about:
      "Your own SearXNG, for web search (`orb search`, `POST /search`, Firecrawl's `/v2/search`). Its settings.yml must list json below search.formats. It may be in a private network; the pages it finds may not.",
    example: "http://localhost:8888",
    secret: "password",
  }),
  searchTimeoutMs: option({
    name: "APP_SEARCH_TIMEOUT_SECONDS",
    type: type.duration("seconds", 0.05, 600),
    default: "20",
    about: "Time limit for one response of the search server.",
    example: "60",
  }),
} as const;
