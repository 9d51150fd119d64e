import type { Command } from "commander";
import { OrbError } from "../../base/errors.ts";
import { changeSite, forgetLearned, listSites, resetSite, showSite, type SiteView } from "../../orchestrator/sites.ts";
import type { CliContext } from "../context.ts";
import { plural, printJson, table } from "../output.ts";
import { numberOrDefault } from "../values.ts";
import type { CliClient } from "../wiring.ts";

type Limit = number | "default";

interface LimitOptions {
  maxConcurrency?: Limit;
  requestsPerSecond?: Limit;
  burst?: Limit;
  minDelayMs?: Limit;
}

/** `orb sites …`: what is known of each site, and limits that change while the work runs. */
export function addSitesCommands(program: Command, context: CliContext): void {
  const sites = program.command("sites").description("the sites that were seen, their limits and their health");
  const answer = async (work: (client: CliClient) => Promise<SiteView>) => {
    await context.withClient(async (client) => {
      const view = await work(client);
      if (context.json) printJson(context.terminal, view);
      else context.terminal.out(siteTable([view], context.terminal.columns));
    });
  };

  sites
    .command("list")
    .description("every site")
    .action(async () => {
      await context.withClient(async (client) => {
        const views = await listSites(client);
        if (context.json) printJson(context.terminal, views);
        else
          context.terminal.out(
            views.length === 0 ? "no site was seen yet\n" : siteTable(views, context.terminal.columns),
          );
      });
    });

  sites
    .command("show")
    .description("one site")
    .argument("<site>")
    .action((site: string) => answer((client) => showSite(client, site)));

  sites
    .command("set")
    .description(
      'change a site\'s limits; running work follows within a second; "default" goes back to the configuration',
    )
    .argument("<site>")
    .option("--max-concurrency <number>", "requests at the same time", numberOrDefault({ min: 1, whole: true }))
    .option("--requests-per-second <number>", "average rate", numberOrDefault({ min: 0.001 }))
    .option(
      "--burst <number>",
      "how many may follow each other at once within the rate",
      numberOrDefault({ min: 1, whole: true }),
    )
    .option("--min-delay-ms <number>", "pause between two requests", numberOrDefault({ min: 0, whole: true }))
    .action((site: string, options: LimitOptions) => {
      const { json: _, ...given } = options as LimitOptions & { json?: boolean };
      const change = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, value === "default" ? null : value]),
      );
      if (Object.keys(change).length === 0)
        throw new OrbError("usage", "nothing to change: name at least one limit, see orb sites set --help");
      return answer((client) => changeSite(client, site, change));
    });

  for (const [name, paused] of [
    ["pause", true],
    ["resume", false],
  ] as const) {
    sites
      .command(name)
      .description(paused ? "send nothing to a site until it is resumed" : "let a paused site go on")
      .argument("<site>")
      .action((site: string) => answer((client) => changeSite(client, site, { paused })));
  }

  sites
    .command("reset-breaker")
    .description("forget a site's failures and holds, and try it at once")
    .argument("<site>")
    .action((site: string) => answer((client) => resetSite(client, site)));

  sites
    .command("forget-learned")
    .description("forget that a site was found to need a browser: its next page is tried without one")
    .argument("<site>")
    .action((site: string) => answer((client) => forgetLearned(client, site)));
}

function siteTable(views: readonly SiteView[], columns: number | undefined): string {
  const limit = (value: number | null) => value ?? "default";
  return table(
    ["site", "concurrency", "per second", "delay ms", "breaker", "state", "learned"],
    views.map((view) => [
      view.site,
      limit(view.max_concurrency),
      limit(view.requests_per_second),
      delay(view),
      view.breaker.state === "closed"
        ? "ok"
        : `${view.breaker.state.replace("_", "-")} until ${view.breaker.reopens_at}`,
      view.paused ? "paused" : view.held_until === null ? "ok" : `held until ${view.held_until}`,
      learned(view),
    ]),
    columns,
  );
}

/** The operator's delay, and the one of robots.txt when that is the longer one. */
function delay({ min_delay_ms: own, crawl_delay_ms: asked }: SiteView): string {
  return asked !== null && asked > (own ?? 0) ? `${asked} (robots.txt)` : String(own ?? "default");
}

/** What the site's pages were found to need, and how many of them. */
function learned({ learned_strategy: what }: SiteView): string {
  if (what === null) return "";
  return what.scope === "site" ? `${what.strategy} for all` : `${what.strategy} for ${plural(what.pages, "page")}`;
}
