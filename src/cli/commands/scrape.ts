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
  orb scrape https://example.com/ --format html \\
    --action click=#more --screenshot page.png`;

/** `orb scrape`: one page, now. */
export function addScrapeCommand(program: Command, context: CliContext): void {
  const command = program
    .command("scrape")
    .description("get one page and print what is in it; nothing is kept, unless you say --save")
    .argument("<url>", "the page");
  addRecipeOptions(command, { strategies: ["auto", "http", "browser"], attempts: "maximum attempts; default: 1" })
    .addOption(
      new Option("--format <name>", "how it is printed; otherwise for reading, or as json off a terminal").choices([
        ...RECORD_FORMATS,
        ...PAGE_FORMATS,
      ]),
    )
    .option("--out <file>", OUT_HELP)
    .option("--screenshot <file>", "also take a picture of the page, in a browser, and write it there as PNG")
    .option("--full-page", "with --screenshot: of the whole page")
    .option("--respect-robots", "do not fetch it if the site's robots.txt forbids it")
    .option("--save", "keep the run, its results and its log in the database")
    .option("--url <address>", "have this server get it, which keeps the run (token: APP_API_TOKEN)")
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments(true)
    .action(async (url: string, options: ScrapeOptions, { args }: Command) => {
      if (args.length > 1)
        throw new OrbError("usage", `orb scrape gets one page, and ${args.length} addresses were given`, {
          hint: "Several pages are a crawl that follows no links: orb crawl --max-depth 0 URL URL …, or orb crawl --max-depth 0 --from FILE",
        });
      // The page readers are slow to load: only this command pays for it.
      const { scrape } = await import("../scrape/scrape-page.ts");
      await scrape(context, url, options);
    });
}
