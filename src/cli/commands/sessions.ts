import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import type { SessionView } from "../../orchestrator/sessions.ts";
import { rowsOf } from "../api/rows.ts";
import {
  asUnchecked,
  addressCell,
  apiCommand,
  definedOnly,
  listCommand,
  type ListOptions,
  type UrlOption,
} from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { readJsonFile, readText } from "../files.ts";
import { EXIT, facts, printJson, listTable } from "../print/output.ts";
import { addCookie, addHeader } from "../recipe-options.ts";
import type { Prompt } from "../prompt.ts";

interface AddOptions extends UrlOption {
  origin: string;
  name?: string;
  storageState?: string;
  cookie?: Record<string, string>;
  cookies?: string;
  header?: Record<string, string>;
  basic?: string;
  checkUrl?: string;
}

/** `orb sessions …`: sealed credentials; no command prints a secret. */
export function addSessionsCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  const sessions = program
    .command("sessions")
    .description("cookies, headers and passwords for an origin; stored encrypted, never shown");

  listCommand(sessions, "list", "sessions, newest first")
    .option("--origin <origin>", "only those of this origin")
    .action(({ origin, url, ...page }: ListOptions & { origin?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) => api.sessions.list({ origin, limit }));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no sessions\n");
        const lines = rows.map((row) => [
          row.id,
          row.name ?? "",
          row.holds.join(", "),
          row.health?.status ?? "not checked",
          addressCell(row.origin, terminal.columns),
        ]);
        terminal.out(listTable(["id", "name", "holds", "health", "origin"], lines, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(sessions, "add", "store a session for an origin")
    .requiredOption(
      "--origin <origin>",
      "origin of the session, such as https://example.com; it is sent to this origin only",
    )
    .option("--name <name>", "name of the session")
    .option("--storage-state <file>", "cookies and local storage as Playwright writes them; - reads standard input")
    .addOption(
      new Option(
        "--cookies <file>",
        "cookies as JSON, as a Netscape cookies.txt or as a Cookie header; - reads standard input",
      ).conflicts("cookie"),
    )
    .option("--cookie <name=value>", "a cookie; repeatable", addCookie)
    .option("--header <name: value>", "a header; repeatable", addHeader)
    .option(
      "--basic <user>",
      "HTTP basic auth; the password is read from a prompt or the first line of standard input",
      userName,
    )
    .option("--check-url <url>", "a page that requires the sign-in, for orb sessions check")
    .action(async (options: AddOptions) => {
      const body = await sessionOf(context, options);
      await context.withApi(definedOnly({ url: options.url }), async (api) => {
        show(context, await api.sessions.create(asUnchecked(body)));
      });
    });

  apiCommand(sessions, "check", "check whether the site still accepts the session; exits 1 if not")
    .argument("<session>", "id or name of the session")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const session = await api.sessions.check(id);
        if (session.health?.status !== "healthy") context.exitCode = EXIT.failed;
        show(context, session);
      }),
    );

  apiCommand(sessions, "delete", "delete a session")
    .argument("<session>", "id or name of the session")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        await api.sessions.delete(id);
        if (context.json) printJson(terminal, { deleted: id });
        else terminal.out(`deleted ${id}\n`);
      }),
    );
}

function userName(text: string): string {
  if (!text.includes(":")) return text;
  // A password on the command line is visible to everybody on the machine; at least do not repeat it.
  const message = "expected only the user name; the password is read separately";
  throw new OrbError("usage", `--basic: ${message}`, { fields: [{ path: "basic", message }] });
}

async function sessionOf({ wiring }: CliContext, options: AddOptions): Promise<Record<string, unknown>> {
  const piped = [
    options.basic === undefined ? null : "--basic",
    options.storageState === "-" ? "--storage-state -" : null,
    options.cookies === "-" ? "--cookies -" : null,
  ].filter((one) => one !== null);
  if (piped.length > 1)
    throw new OrbError("usage", `${piped.join(" and ")} both read standard input`, {
      hint: "Use a file for one of them.",
    });
  const open = (path: string) => wiring.openFile(path);
  return definedOnly({
    origin: originOf(options.origin),
    name: options.name,
    cookies: options.cookies === undefined ? options.cookie : await readText(open, options.cookies, "--cookies"),
    headers: options.header,
    basic:
      options.basic === undefined
        ? undefined
        : { username: options.basic, password: await passwordOf(wiring.prompt, options.basic) },
    storage_state:
      options.storageState === undefined
        ? undefined
        : stateOf(await readJsonFile(open, options.storageState, "--storage-state")),
    check_url: options.checkUrl,
  });
}

/** Accepts a full URL, as copied from a browser, for its origin. */
function originOf(text: string): string {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" ? url.origin : text;
}

async function passwordOf(prompt: Prompt, user: string): Promise<string> {
  const password = prompt.available ? await prompt.secret(`Password of ${user}: `) : await prompt.piped();
  if (password !== null && password !== "") return password;
  const message = "no password was given";
  throw new OrbError("input_invalid", `--basic: ${message}`, { fields: [{ path: "basic.password", message }] });
}

interface State {
  cookies?: Record<string, unknown>[];
  origins?: { origin: string; localStorage?: unknown }[];
}

const COOKIE_KEYS = new Set(["name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite"]);

/** Newer browsers write more keys than the API accepts; unknown ones are dropped. */
export function stateOf(value: Record<string, unknown>): State {
  const state = value as State;
  if (!Array.isArray(state.cookies) && !Array.isArray(state.origins)) {
    const message = "expected cookies and origins, as Playwright's storageState() writes them";
    throw new OrbError("input_invalid", `--storage-state: ${message}`, {
      fields: [{ path: "storage_state", message }],
    });
  }
  const cookies = (state.cookies ?? []).map((cookie) =>
    Object.fromEntries(Object.entries(cookie).filter(([key]) => COOKIE_KEYS.has(key))),
  );
  const origins = (state.origins ?? []).map(({ origin, localStorage }) => ({
    origin,
    localStorage: localStorage ?? [],
  }));
  return { cookies, origins };
}

export function show({ json, terminal }: CliContext, session: SessionView): void {
  if (json) return printJson(terminal, session);
  const { health } = session;
  return terminal.out(
    facts(
      [
        ["id", session.id],
        ["name", session.name],
        ["origin", session.origin],
        ["holds", session.holds.join(", ")],
        ["check", session.check_url],
        ["health", health === null ? "not checked yet" : `${health.status}: ${health.message}`],
        ["created", session.created_at],
        ["last used", session.last_used_at],
        ["jobs", session.jobs.map(({ id, name }) => name ?? id).join(", ") || null],
      ],
      terminal.columns,
    ),
  );
}
