import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import { STRATEGIES } from "../../domain/run/recipe.ts";
import { suggest } from "../../domain/text/suggest.ts";
import { SITE_STATES } from "../../domain/site/site-states.ts";
import type { SiteView } from "../../orchestrator/sites/site-view.ts";
import { rowsOf } from "../api/rows.ts";
import { apiCommand, asUnchecked, definedOnly, listCommand, type ListOptions, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { printJson } from "../print/output.ts";
import { siteFacts, siteTable } from "../sites/sites-view.ts";
import { watchSites } from "../sites/sites-watch.ts";
import { numberOrDefault } from "../values.ts";

/** `orb sites …`: the state of each site, and its live limits. */
export function addSitesCommands(program: Command, context: CliContext): void {
  const sites = program
    .command("sites")
    .description("the sites that were seen, their limits and their health; orb sites --watch follows them live");
  addList(sites, context);
  addSet(sites, context);
  one(sites, context, "show", "all that is known of a site", "get");
  one(sites, context, "pause", "send nothing to a site until it is resumed", "pause");
  one(sites, context, "resume", "let a paused site go on", "resume");
  one(sites, context, "reset-breaker", "forget a site's failures and holds, and try it at once", "resetBreaker");
  one(
    sites,
    context,
    "forget-learned",
    "forget that a site was found to need a browser: its next page is tried without one",
    "forgetLearnedStrategy",
  );
}

type SitesOptions = ListOptions & { search?: string; state?: string; group?: string; watch?: boolean };

function addList(sites: Command, context: CliContext): void {
  const { terminal } = context;
  // The default of `orb sites`, so unknown subcommands end here too.
  listCommand(sites, "list", "sites by name, how each is doing, and why it waits", { isDefault: true })
    .option("--search <text>", "only those with this in their name")
    .addOption(new Option("--state <state>", "only those in this state").choices(SITE_STATES))
    .option("--group <name>", "only those of this group")
    .option("--watch", "follow all sites together live, until Ctrl-C; with --json a line for each change")
    .allowExcessArguments()
    .action(({ search, state, group, url, watch, ...page }: SitesOptions, self: Command) => {
      refuseUnknown(sites, self.args[0]);
      const filter = definedOnly({ q: search, state, group });
      if (watch === true) {
        if (Object.keys(filter).length > 0)
          throw new OrbError(
            "usage",
            "--watch follows all sites: --search, --state and --group have no meaning with it",
          );
        return watchSites(context, definedOnly({ url }));
      }
      return context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) => api.sites.list(asUnchecked({ ...filter, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0)
          return terminal.out(Object.keys(filter).length === 0 ? "no site was seen yet\n" : "no such site\n");
        terminal.out(siteTable(rows, context.wiring.now(), terminal.columns));
        if (more) terminal.err("there are more: --limit or --all\n");
        return undefined;
      });
    });
}

function refuseUnknown(sites: Command, word: string | undefined): void {
  if (word === undefined) return;
  const near = suggest(
    word,
    sites.commands.map((command) => command.name()),
  );
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  throw new OrbError("usage", `orb sites knows no command ${word}${meant}`, { hint: "--help shows what there is." });
}

const YES_NO = { yes: true, no: false, default: null } as const;

interface SetOptions extends UrlOption {
  maxConcurrency?: number | "default";
  requestsPerSecond?: number | "default";
  burst?: number | "default";
  minDelayMs?: number | "default";
  maxMemoryMb?: number | "default";
  strategy?: string;
  respectRobots?: keyof typeof YES_NO;
  shards?: number | "default";
  group?: string | false;
  dependsOn?: string[] | false;
}

function addSet(sites: Command, context: CliContext): void {
  const positiveInteger = numberOrDefault({ min: 1, whole: true });
  apiCommand(
    sites,
    "set",
    'change what holds for a site; running work follows within a second; "default" goes back to the configuration',
  )
    .argument("<site>")
    .option("--max-concurrency <number>", "requests at the same time", positiveInteger)
    .option("--requests-per-second <number>", "average rate", numberOrDefault({ min: 0.001 }))
    .option("--burst <number>", "how many may follow each other at once within the rate", positiveInteger)
    .option("--min-delay-ms <number>", "pause between two requests", numberOrDefault({ min: 0, whole: true }))
    .option(
      "--max-memory-mb <number>",
      "what its open browser pages may take together; one is open always",
      positiveInteger,
    )
    .addOption(
      new Option("--strategy <name>", "how pages are fetched in runs with the strategy auto").choices([
        ...STRATEGIES,
        "default",
      ]),
    )
    .addOption(
      new Option("--respect-robots <answer>", "whether robots.txt is obeyed, whatever a run says").choices(
        Object.keys(YES_NO),
      ),
    )
    .option(
      "--shards <number>",
      "parts of its work, for several processes (1 to 64, at most --max-concurrency)",
      positiveInteger,
    )
    .option("--group <name>", "sites of one group are one server, and share limits, pauses and breaker")
    .option("--no-group", "leave the group")
    .option(
      "--depends-on <site>",
      "its work waits until that site's is finished; may be given often, replaces what was given before",
      (site: string, before: string[] | undefined) => [...(before ?? []), site],
    )
    .option("--no-depends-on", "it waits for no other site")
    .action((site: string, options: SetOptions) => change(context, site, options));
}

function change(context: CliContext, site: string, options: SetOptions): Promise<void> {
  const set = <T>(value: T | "default" | undefined) => (value === "default" ? null : value);
  const { respectRobots: robots, group, dependsOn: needs } = options;
  const body = definedOnly({
    max_concurrency: set(options.maxConcurrency),
    requests_per_second: set(options.requestsPerSecond),
    burst: set(options.burst),
    min_delay_ms: set(options.minDelayMs),
    max_memory_mb: set(options.maxMemoryMb),
    strategy: set(options.strategy),
    respect_robots: robots === undefined ? undefined : YES_NO[robots],
    shards: set(options.shards),
    group: group === false ? null : group,
    depends_on: needs === false ? [] : needs,
  });
  if (Object.keys(body).length === 0)
    throw new OrbError("usage", "nothing to change: name at least one setting, see orb sites set --help");
  return context.withApi(definedOnly({ url: options.url }), async (api) => {
    printSite(context, await api.sites.change(site, asUnchecked(body)));
  });
}

function one(
  sites: Command,
  context: CliContext,
  name: string,
  description: string,
  action: "get" | "pause" | "resume" | "resetBreaker" | "forgetLearnedStrategy",
): void {
  apiCommand(sites, name, description)
    .argument("<site>")
    .action((site: string, { url }: UrlOption) =>
      context.withApi(definedOnly({ url }), async (api) => {
        printSite(context, await api.sites[action](site));
      }),
    );
}

function printSite({ json, terminal, wiring }: CliContext, view: SiteView): void {
  if (json) printJson(terminal, view);
  else terminal.out(siteFacts(view, wiring.now(), terminal.columns));
}
