/** What a crawl is asked for: the same words for `orb crawl` and for crawls that are saved as jobs. */
import { type Command, Option } from "commander";
import { given } from "../api/command.ts";
import { positiveInteger, positiveNumber, wholeNumber } from "../values.ts";

export interface CrawlOptions {
  maxDepth?: number;
  /** The older name. */
  depth?: number;
  maxPages?: number;
  concurrency?: number;
  timeoutMinutes?: number;
  include?: string[];
  exclude?: string[];
  follow?: string[];
  read?: string[];
  anySite?: boolean;
  sitemap?: boolean;
  ignoreRobots?: boolean;
  article?: boolean;
  onlyChanged?: boolean;
}

const collect = (text: string, before: string[] = []) => [...before, text];

/** `when` begins the descriptions where not everything is a crawl. */
export function addCrawlOptions(command: Command, when = ""): Command {
  return command
    .option("--max-depth <number>", `${when}how many links away from the start (2)`, wholeNumber)
    .addOption(new Option("--depth <number>", "the same as --max-depth").argParser(wholeNumber).conflicts("maxDepth"))
    .option("--max-pages <number>", `${when}how many pages at most (1000)`, positiveInteger)
    .option("--concurrency <number>", `${when}pages at the same time (10)`, positiveInteger)
    .option("--timeout-minutes <number>", `${when}then it ends with what it has (30)`, positiveNumber)
    .option(
      "--include <pattern>",
      `${when}follow and read only pages like this, such as /blog/** (may be repeated)`,
      collect,
    )
    .option("--exclude <pattern>", `${when}no pages like this (may be repeated)`, collect)
    .option(
      "--follow <pattern>",
      `${when}also follow the links of pages like this, without reading them, such as /page/** (may be repeated)`,
      collect,
    )
    .option("--read <pattern>", `${when}read only pages like this; others are followed (may be repeated)`, collect)
    .option("--any-site", `${when}follow links to other sites, too`)
    .option("--sitemap", `${when}also begin with the pages that the site's sitemaps name`)
    .option("--ignore-robots", `${when}fetch what robots.txt asks us not to; say why to the site's owner`)
    .option("--article", `${when}with fields: also the article's text and Markdown`);
}

/** As the API takes it; what was not said is not in it. */
export function crawlOf(options: CrawlOptions): Record<string, unknown> {
  return given({
    max_depth: options.maxDepth ?? options.depth,
    max_pages: options.maxPages,
    max_concurrent_articles: options.concurrency,
    timeout_minutes: options.timeoutMinutes,
    include: options.include,
    exclude: options.exclude,
    follow: options.follow,
    read: options.read,
    same_site: options.anySite === true ? false : undefined,
    use_sitemap: options.sitemap,
    respect_robots: options.ignoreRobots === true ? false : undefined,
    article: options.article,
    only_changed: options.onlyChanged,
  });
}
