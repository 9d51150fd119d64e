import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import { proxyLines } from "../../domain/proxy/proxy-list.ts";
import { PROXY_STATES } from "../../domain/proxy/proxy-score.ts";
import type { ImportView } from "../../orchestrator/proxies/import.ts";
import type { ProxyListView, ProxyView } from "../../orchestrator/proxies/view.ts";
import { rowsOf } from "../api/rows.ts";
import {
  apiCommand,
  asUnchecked,
  definedOnly,
  idOf,
  listCommand,
  type ListOptions,
  timeCell,
  type UrlOption,
} from "../api/command.ts";
import type { CliContext, OpenApi } from "../context.ts";
import { readText } from "../files.ts";
import { EXIT, facts, listTable, plural, printJson } from "../print/output.ts";
import { addProxyRefreshCommand } from "./proxies-refresh.ts";

/** `orb proxies …`: the pool behind `--proxy pool`. No command prints a password. */
export function addProxiesCommands(program: Command, context: CliContext): void {
  const proxies = program.command("proxies").description("the proxy pool: import and check proxies, see their state");
  addListCommand(proxies, context);
  addImportCommand(proxies, context);
  addProxyRefreshCommand(proxies, context);

  const idCommand = (name: string, description: string, work: (api: OpenApi, id: string) => Promise<unknown>) =>
    apiCommand(proxies, name, description)
      .argument("<proxy_id>")
      .action((id: string, options: UrlOption) =>
        context.withApi(options, (api) => work(api, idOf(id, "proxy", "proxies list"))),
      );
  const view = (name: "get" | "disable" | "enable") => async (api: OpenApi, id: string) =>
    show(context, await api.proxies[name](id));

  idCommand("show", "one proxy", view("get"));
  idCommand("disable", "do not use a proxy until it is enabled again", view("disable"));
  idCommand("enable", "use a disabled proxy again", view("enable"));
  idCommand("remove", "remove a proxy from the pool", async (api, id) => {
    await api.proxies.delete(id);
    if (context.json) printJson(context.terminal, { deleted: id });
    else context.terminal.out(`removed ${id}\n`);
  });
}

function addListCommand(proxies: Command, context: CliContext): void {
  const { terminal } = context;
  listCommand(proxies, "list", "proxies, newest first, and how many are usable")
    .addOption(new Option("--state <state>", "only those in this state").choices(PROXY_STATES))
    .action(({ state, url, ...page }: ListOptions & { state?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more, first } = await rowsOf(page, (limit) => api.proxies.list(asUnchecked({ state, limit })));
        if (context.json) return printJson(terminal, { ...first, proxies: rows });
        if (rows.length > 0) terminal.out(proxyTable(rows, context));
        terminal.out(`${sumsLine(first)}\n`);
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );
}

function sumsLine({ total, usable, resting, disabled, unchecked }: Omit<ProxyListView, "proxies">): string {
  if (total === 0) return "no proxies; add some with orb proxies import FILE";
  const others = Object.entries({ "cooling down": resting, disabled, "not checked": unchecked }).filter(
    ([, count]) => count > 0,
  );
  const rest = others.map(([name, count]) => `, ${count} ${name}`).join("");
  return `${usable} of ${plural(total, "proxy", "proxies")} usable${rest}`;
}

function proxyTable(rows: readonly ProxyView[], { terminal, wiring }: CliContext): string {
  return listTable(
    ["id", "state", "score", "ms", "good", "bad", "blocked", "used", "last error", "proxy"],
    rows.map((row) => [
      row.id,
      row.state,
      row.score.toFixed(2),
      row.latency_ms ?? "",
      row.successes,
      row.failures,
      row.blocks,
      timeCell(row.used_at, wiring.now(), terminal.columns),
      row.last_error ?? "",
      row.proxy,
    ]),
    terminal.columns,
  );
}

function show({ json, terminal }: CliContext, proxy: ProxyView): void {
  if (json) return printJson(terminal, proxy);
  const lines = Object.entries(proxy).map(([name, value]) => [name, value === null ? null : String(value)] as const);
  return terminal.out(facts(lines, terminal.columns));
}

const AT_ONCE = 10_000;
const LONGEST_LIST = 64 * 1024 * 1024;
/** Prints at most this many rejected lines. */
const NAMED = 20;

function addImportCommand(proxies: Command, context: CliContext): void {
  apiCommand(proxies, "import", "import proxies, one per line; existing ones are not changed")
    .argument("<list>", "a file, - for standard input, or a URL that starts with http:// or https://")
    .addHelpText(
      "after",
      "\nA line is scheme://user:password@host:port (http, https or socks5), host:port,\n" +
        "or host:port:user:password. Lines that start with # are ignored.",
    )
    .action((list: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        if (/^https?:\/\//i.test(list))
          return printImport(context, await post(api, { url: list }), (index) => `entry ${index + 1}`);
        const lines = proxyLines(await readText((path) => context.wiring.openFile(path), list, "list", LONGEST_LIST));
        if (lines.length === 0)
          throw new OrbError("input_invalid", `there is no proxy in ${list === "-" ? "standard input" : list}`);
        return printImport(context, await importAll(api, lines), (index) => `line ${lines[index]?.line}`);
      }),
    );
}

const post = (api: OpenApi, body: { url: string } | { proxies: string[] }) => api.proxies.import(body);

/** Any number; each call imports a batch. */
async function importAll(api: OpenApi, lines: readonly { text: string }[]): Promise<ImportView> {
  const sum: ImportView = { added: 0, existing: 0, invalid: [], invalid_count: 0 };
  for (let from = 0; from < lines.length; from += AT_ONCE) {
    const part = lines.slice(from, from + AT_ONCE).map(({ text }) => text);
    const { added, existing, invalid, invalid_count: bad } = await post(api, { proxies: part });
    sum.added += added;
    sum.existing += existing;
    sum.invalid_count += bad;
    sum.invalid.push(...invalid.map((entry) => ({ ...entry, index: entry.index + from })));
  }
  return sum;
}

function printImport(context: CliContext, view: ImportView, positionOf: (index: number) => string): void {
  const { terminal } = context;
  if (view.invalid_count > 0) context.exitCode = EXIT.partial;
  if (context.json) return printJson(terminal, view);
  const there = view.existing === 0 ? "" : `, ${view.existing} existed already`;
  terminal.out(`${plural(view.added, "proxy", "proxies")} added${there}\n`);
  for (const { index, message } of view.invalid.slice(0, NAMED)) terminal.err(`${positionOf(index)}: ${message}\n`);
  const more = view.invalid_count - Math.min(NAMED, view.invalid.length);
  if (more > 0) terminal.err(`and ${more} more invalid ones\n`);
  if (view.added > 0) terminal.err("orb proxies refresh checks which of them are usable\n");
  return undefined;
}
