import { type Command, Option } from "commander";
import { OrbError } from "../../../base/errors.ts";
import { type Role, ROLES } from "../../../domain/access/roles.ts";
import { rowsOf } from "../../api/rows.ts";
import {
  apiCommand,
  asUnchecked,
  definedOnly,
  listCommand,
  type ListOptions,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext, OpenApi } from "../../context.ts";
import { actorText } from "../../print/actor.ts";
import { facts, listTable, printJson } from "../../print/output.ts";
import { positiveInteger } from "../../values.ts";

interface CreateOptions extends UrlOption {
  role: Role;
  job?: string[];
  site?: string[];
  tag?: string[];
  requestsPerMinute?: number;
  expires?: string;
}

interface UpdateOptions extends Partial<Omit<CreateOptions, "requestsPerMinute">> {
  name?: string;
  requestsPerMinute?: number | typeof NONE;
}

type KeyView = Awaited<ReturnType<OpenApi["keys"]["get"]>>;

const collect = (value: string, before: string[] = []) => [...before, value];

const NONE = "none";
/** Null ends the limit. */
const listOrNone = (values: string[] | undefined) => (values?.length === 1 && values[0] === NONE ? null : values);
// Not null: commander would turn it into an empty string.
const numberOrNone = (value: string) => (value === NONE ? NONE : positiveInteger(value));

/** `orb keys …`: API keys with roles and limits. */
export function addKeysCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  const keys = program.command("keys").description("API keys: who may use the API, with which rights");

  apiCommand(keys, "create", "create a key; it is printed once, and cannot be read again")
    .argument("<name>", "who or what uses it")
    .addOption(new Option("--role <role>", "what it may do").choices(ROLES).default("viewer"))
    .option("--job <id>", "limit it to this job; repeatable", collect)
    .option("--site <site>", "limit it to this site; repeatable", collect)
    .option("--tag <tag>", "limit it to jobs with this tag; repeatable", collect)
    .option("--requests-per-minute <number>", "how many requests it may make per minute", positiveInteger)
    .option("--expires <time>", "when it ends, such as 2027-01-31T00:00:00Z")
    .action((name: string, { url, role, job, site, tag, requestsPerMinute, expires }: CreateOptions) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const limits = { jobs: job, sites: site, tags: tag, requests_per_minute: requestsPerMinute };
        const body = definedOnly({ name, role, ...limits, expires_at: expires });
        const { key, ...created } = await api.keys.create(asUnchecked(body));
        if (context.json) return printJson(terminal, { ...created, key });
        show(context, created);
        return terminal.out(
          `\n${key}\n\nCopy the key now: it is not shown again. Use it as APP_API_TOKEN of a client.\n`,
        );
      }),
    );

  listCommand(keys, "list", "keys, newest first")
    .option("--revoked", "only revoked keys")
    .action(({ revoked, url, ...page }: ListOptions & { revoked?: boolean }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) => api.keys.list(definedOnly({ revoked, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no keys\n");
        const now = context.wiring.now();
        const lines = rows.map((row) => [
          row.id,
          row.name,
          row.role,
          row.status,
          limitsCell(row),
          row.expires_at?.slice(0, "2027-01-31".length) ?? "",
          row.last_used_at === null ? "never" : timeCell(row.last_used_at, now, terminal.columns),
        ]);
        terminal.out(
          listTable(["id", "name", "role", "status", "limits", "expires", "last used"], lines, terminal.columns),
        );
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(keys, "show", "one key; without an id, the one that this command uses")
    .argument("[key]", "id of the key")
    .action((id: string | undefined, options: UrlOption) =>
      context.withApi(options, async (api) => {
        if (id !== undefined) return show(context, await api.keys.get(id));
        const me = await api.keys.me();
        if (context.json) return printJson(terminal, me);
        return terminal.out(facts([["kind", me.kind], ["name", me.name], ["role", me.role], ...limitFacts(me)]));
      }),
    );

  apiCommand(keys, "update", "change a key; what is not named stays, and so does the key itself")
    .argument("<key>", "id of the key")
    .option("--name <name>", "who or what uses it")
    .addOption(new Option("--role <role>", "what it may do").choices(ROLES))
    .option("--job <id>", "limit it to this job; repeatable; none ends this limit", collect)
    .option("--site <site>", "limit it to this site; repeatable; none ends this limit", collect)
    .option("--tag <tag>", "limit it to jobs with this tag; repeatable; none ends this limit", collect)
    .option(
      "--requests-per-minute <number>",
      "how many requests it may make per minute; none ends this limit",
      numberOrNone,
    )
    .option("--expires <time>", "when it ends, such as 2027-01-31T00:00:00Z, or never")
    .action((id: string, { url, name, role, job, site, tag, requestsPerMinute, expires }: UpdateOptions) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const body = definedOnly({
          name,
          role,
          jobs: listOrNone(job),
          sites: listOrNone(site),
          tags: listOrNone(tag),
          requests_per_minute: requestsPerMinute === NONE ? null : requestsPerMinute,
          expires_at: expires === "never" ? null : expires,
        });
        if (Object.keys(body).length === 0)
          throw new OrbError("input_invalid", "nothing to change: name at least one option, such as --role operator");
        show(context, await api.keys.change(id, asUnchecked(body)));
      }),
    );

  apiCommand(keys, "revoke", "revoke a key for ever, on every machine within a second")
    .argument("<key>", "id of the key")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => show(context, await api.keys.revoke(id))),
    );
}

function show({ json, terminal }: CliContext, key: KeyView): void {
  if (json) return printJson(terminal, key);
  const rows: [string, string][] = [
    ["key", key.id],
    ["name", key.name],
    ["begins", key.prefix],
    ["role", key.role],
    ["status", key.status],
    ...limitFacts(key),
    ["created", `${key.created_at} by ${key.created_by === null ? "an unknown caller" : actorText(key.created_by)}`],
    ["expires", key.expires_at ?? "never"],
  ];
  return terminal.out(facts(rows));
}

/** How many of each kind; `orb keys show` names them. */
function limitsCell(key: KeyView): string {
  const parts = (["jobs", "sites", "tags"] as const).flatMap((name) => {
    const { length = null } = key[name] ?? {};
    return length === null ? [] : [`${length} ${length === 1 ? name.slice(0, -1) : name}`];
  });
  return parts.join(", ");
}

function limitFacts(key: Pick<KeyView, "jobs" | "sites" | "tags" | "requests_per_minute">): [string, string][] {
  const lists = (["jobs", "sites", "tags"] as const).map((name) => [name, key[name]?.join(", ") ?? ""]);
  const rate = key.requests_per_minute === null ? "" : String(key.requests_per_minute);
  return [...lists, ["requests per minute", rate]].filter(([, value]) => value !== "") as [string, string][];
}
