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
    .description("known sites, their limits and their health; orb sites --watch shows them live");
  addList(sites, context);
  addSet(sites, context);
  one(sites, context, "show", "settings, limits and health of a site", "get");
  one(sites, context, "pause", "send no requests to a site until it is resumed", "pause");
  one(sites, context, "resume", "continue a paused site", "resume");
  one(
    sites,
    context,
    "reset-breaker",
    "close the circuit: clear a site's failures and waits, and try it at once",
    "resetBreaker",
  );
  one(
    sites,
    context,
    "forget-learned",
    "forget that a site needs a browser; its next page is tried without one",
    "forgetLearnedStrategy",
  );
}

type SitesOptions = ListOptions & { search?: string; state?: string; group?: string; watch?: boolean };

function addList(sites: Command, context: CliContext): void {
  const { terminal } = context;
  // The default of `orb sites`, so unknown subcommands end here too.
  listCommand(sites, "list", "sites by name, with their state and why they wait", { isDefault: true })
    .option("--search <text>", "only those with this text in their name")
    .addOption(new Option("--state <state>", "only those in this state").choices(SITE_STATES))
    .option("--group <name>", "only those of this group")
    .option("--watch", "show all sites live, until Ctrl-C; with --json one line per change")
    .allowExcessArguments()
    .action(({ search, state, group, url, watch, ...page }: SitesOptions, self: Command) => {
      refuseUnknown(sites, self.args[0]);
      const filter = definedOnly({ q: search, state, group });
      if (watch === true) {
        if (Object.keys(filter).length > 0)
          throw new OrbError("usage", "--watch cannot be combined with --search, --state or --group");
        return watchSites(context, definedOnly({ url }));
      }
      return context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) => api.sites.list(asUnchecked({ ...filter, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0)
          return terminal.out(Object.keys(filter).length === 0 ? "no sites yet\n" : "no matching sites\n");
        terminal.out(siteTable(rows, context.wiring.now(), terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
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
  throw new OrbError("usage", `orb sites has no command ${word}${meant}`, { hint: "See --help." });
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
    'change the settings of a site; applies to running work within a second. The value "default" restores the configured value',
  )
    .argument("<site>")
    .option("--max-concurrency <number>", "maximum concurrent requests", positiveInteger)
    .option("--requests-per-second <number>", "average rate", numberOrDefault({ min: 0.001 }))
    .option("--burst <number>", "requests that may be sent at once before the rate applies", positiveInteger)
    .option("--min-delay-ms <number>", "minimum delay between two requests", numberOrDefault({ min: 0, whole: true }))
    .option(
      "--max-memory-mb <number>",
      "memory limit for all open browser pages of the site; one page is always allowed",
      positiveInteger,
    )
    .addOption(
      new Option("--strategy <name>", "fetch strategy for runs with strategy auto").choices([...STRATEGIES, "default"]),
    )
    .addOption(
      new Option("--respect-robots <answer>", "obey robots.txt or not, regardless of the run").choices(
        Object.keys(YES_NO),
      ),
    )
    .option(
      "--shards <number>",
      "number of lanes the site is split into (1 to 64, at most --max-concurrency)",
      positiveInteger,
    )
    .option("--group <name>", "group of sites on one server; they share limits, pauses and circuit breaker")
    .option("--no-group", "remove the site from its group")
    .option(
      "--depends-on <site>",
      "wait until the work of that site is finished; repeatable; replaces the previous list",
      (site: string, before: string[] | undefined) => [...(before ?? []), site],
    )
    .option("--no-depends-on", "wait for no other site")
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
