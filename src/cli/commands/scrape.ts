import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import { RECORD_FORMATS } from "../../exporters/registry.ts";
import type { CliContext } from "../context.ts";
import { FIELD_HELP } from "../fields.ts";
import { addRecipeOptions } from "../recipe-options.ts";
import { PAGE_FORMATS } from "../scrape/page-formats.ts";
import type { ScrapeOptions } from "../scrape/scrape-page.ts";
import { OUT_HELP } from "./runs/run-results.ts";

const EXAMPLES = `${FIELD_HELP}

Examples:
  orb scrape https://example.com/
  orb scrape https://example.com/ --field title=h1 --field more=a@href
  orb scrape https://books.toscrape.com/ --items article.product_pod \\
    --field name=h3 --field price:number=.price_color --format csv
  orb scrape report.pdf --format markdown
  orb scrape https://example.com/ --format html \\
    --action click=#more --screenshot page.png`;

/** `orb scrape`: one page, now. */
export function addScrapeCommand(program: Command, context: CliContext): void {
  const command = program
    .command("scrape")
    .description("fetch one page and print its data; nothing is stored unless you use --save")
    .argument("<url>", "the page, or the path of a file, such as report.pdf");
  addRecipeOptions(command, { strategies: ["auto", "http", "browser"], attempts: "maximum attempts (default: 1)" })
    .addOption(
      new Option("--format <name>", "output format; default: readable text on a terminal, otherwise json").choices([
        ...RECORD_FORMATS,
        ...PAGE_FORMATS,
      ]),
    )
    .option("--out <file>", OUT_HELP)
    .option("--screenshot <file>", "also take a screenshot in a browser and write it to this file as PNG")
    .option("--full-page", "with --screenshot: the whole page")
    .option("--respect-robots", "do not fetch the page if robots.txt disallows it")
    .option("--no-documents", "fail if the URL leads to a document, such as a PDF or an Office file")
    .option("--save", "store the run, its results and its log in the database")
    .option("--url <address>", "let this server fetch the page; it stores the run (token from APP_API_TOKEN)")
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments(true)
    .action(async (url: string, options: ScrapeOptions, { args }: Command) => {
      if (args.length > 1)
        throw new OrbError("usage", `orb scrape fetches one page, but ${args.length} URLs were given`, {
          hint: "For several pages use orb crawl --max-depth 0 URL URL …, or orb crawl --max-depth 0 --from FILE",
        });
      // The page readers are slow to load: only this command pays for it.
      const { scrape } = await import("../scrape/scrape-page.ts");
      await scrape(context, url, options);
    });
}
