import { type Command, Option } from "commander";
import { SEARCH_SOURCES, TIME_RANGES } from "../../orchestrator/search.ts";
import { apiCommand, asUnchecked, definedOnly, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { EXIT, oneLine, printJson } from "../print/output.ts";
import { positiveInteger } from "../values.ts";

interface SearchOptions extends UrlOption {
  limit?: number;
  source?: (typeof SEARCH_SOURCES)[number];
  language?: string;
  since?: (typeof TIME_RANGES)[number];
  domain?: string[];
}

const EXAMPLES = `
Search goes through your own SearXNG (APP_SEARCH_URL).

Examples:
  orb search "repairing bicycle brakes"
  orb search "solar panels" --source news --since week --language de
  orb search "site maps" --json | jq -r '.web[].url' > urls.txt
  orb crawl $(cat urls.txt) --max-depth 0`;

const collect = (text: string, before: string[] = []) => [...before, text];

/** `orb search`: results of the operator's search server. */
export function addSearchCommand(program: Command, context: CliContext): void {
  const { terminal } = context;
  apiCommand(program, "search", "search the web through your own SearXNG")
    .argument("<query...>", "what to search for")
    .option("--limit <number>", "maximum number of results (default: 10)", positiveInteger)
    .addOption(new Option("--source <name>", "what to search; default: web").choices(SEARCH_SOURCES))
    .option("--language <code>", "language of the results, such as en or de-AT")
    .addOption(new Option("--since <time>", "only results of the last day, week, month or year").choices(TIME_RANGES))
    .option("--domain <name>", "only results of this domain; repeatable", collect)
    .addHelpText("after", EXAMPLES)
    .action((query: string[], { limit, source, language, since, domain, url }: SearchOptions) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const body = {
          query: query.join(" "),
          ...definedOnly({ limit, language, time_range: since, include_domains: domain }),
          ...(source === undefined ? {} : { sources: [source] }),
        };
        const answer = await api.search.web(asUnchecked(body));
        for (const warning of answer.warnings) terminal.err(`${oneLine(warning)}\n`);
        const found = [...answer.web, ...answer.news, ...answer.images];
        context.exitCode = found.length === 0 ? EXIT.failed : EXIT.done;
        if (context.json) return printJson(terminal, answer);
        if (found.length === 0) return terminal.err("nothing found\n");
        for (const { title, url: address, description, published } of found) {
          const lines = [title, published ?? "", address, description].filter((line) => line !== "");
          terminal.out(`${lines.map((line, index) => `${index === 0 ? "" : "  "}${oneLine(line)}`).join("\n")}\n`);
        }
      }),
    );
}
