import type { Route } from "./misbehaving-site.ts";

/** Speaks the JSON protocol of SearXNG: finds these paths of a site, all on the first page of results. */
export const searxng =
  (site: () => string, paths: readonly string[]): Route =>
  ({ query }, response) => {
    const isFirst = query.get("pageno") === "1";
    const source = query.get("categories");
    const results = (isFirst ? paths : []).map((path) => ({
      url: `${site()}${path}`,
      title: `Title of ${path}`,
      content: `About ${query.get("q")}`,
      engine: "stand-in",
      ...(source === "images" ? { img_src: `${site()}${path}.png`, resolution: "1200 x 800" } : {}),
      ...(source === "news" ? { publishedDate: "2026-01-02T03:04:05" } : {}),
    }));
    const body = { query: query.get("q"), number_of_results: 0, results, unresponsive_engines: [["other", "timeout"]] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
