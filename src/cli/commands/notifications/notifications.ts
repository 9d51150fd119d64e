import type { Command } from "commander";
import { OrbError } from "../../../base/errors.ts";
import { CHANNEL_KINDS, channelKind } from "../../../domain/notify/registry.ts";
import { DELIVERY_STATES, NOTIFICATION_TYPES, notificationKind } from "../../../domain/notify/types.ts";
import type { OrbweaverClient } from "../../../api-client/client.ts";
import { rowsOf } from "../../api/rows.ts";
import {
  apiCommand,
  asUnchecked,
  definedOnly,
  listCommand,
  type ListOptions,
  nextCommand,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { EXIT, facts, listTable, printJson } from "../../print/output.ts";
import {
  type AboutOptions,
  aboutOf,
  parsed,
  secretsOf,
  settingsOf,
  withAboutFlags,
  withKindFlags,
} from "./channel-flags.ts";

/** `orb notifications …`: channels; no command prints a secret. */
export function addNotificationsCommands(program: Command, context: CliContext): void {
  const notifications = program
    .command("notifications")
    .description("who is notified of failures, changes and the ends of runs, and how");
  addLists(notifications, context);
  addAdd(notifications, context);
  addChange(notifications, context);

  apiCommand(notifications, "test", "send a test message; exits 1 if the receiver does not accept it")
    .argument("<channel>", "id or name")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const result = await api.notifications.test(id);
        if (!result.delivered) context.exitCode = EXIT.failed;
        if (context.json) return printJson(context.terminal, result);
        const { name, target } = result.channel;
        return context.terminal.out(
          result.delivered ? `${name}: ${target} accepted the message\n` : `${name}: not delivered: ${result.error}\n`,
        );
      }),
    );

  apiCommand(notifications, "delete", "delete a channel")
    .argument("<channel>", "id or name")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        await api.notifications.delete(id);
        if (context.json) printJson(context.terminal, { deleted: id });
        else context.terminal.out(`deleted ${id}\n`);
      }),
    );
}

function addLists(notifications: Command, context: CliContext): void {
  const { terminal } = context;
  apiCommand(notifications, "list", "channels, by name").action((options: UrlOption) =>
    context.withApi(options, async (api) => {
      const rows = await api.notifications.list();
      if (context.json) return printJson(terminal, rows);
      if (rows.length === 0)
        return terminal.out(`no channels; add one: ${nextCommand("notifications add email --help", options)}\n`);
      const lines = rows.map((row) => [row.name, row.kind, row.status, String(row.waiting), row.target]);
      return terminal.out(listTable(["name", "kind", "status", "waiting", "receiver"], lines, terminal.columns));
    }),
  );

  apiCommand(notifications, "show", "one channel")
    .argument("<channel>", "id or name")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => show(context, await api.notifications.get(id))),
    );

  notifications
    .command("types")
    .description("types of notifications, with their severity")
    .action(() => {
      const rows = NOTIFICATION_TYPES.map((type) => ({ type, ...notificationKind(type) }));
      if (context.json)
        return printJson(
          terminal,
          rows.map(({ type, severity, about, onlyNamed }) => ({
            type,
            severity,
            about,
            only_named: onlyNamed === true,
          })),
        );
      const lines = rows.map(({ type, severity, about, onlyNamed }) => [
        type,
        severity,
        `${about}${onlyNamed === true ? " (only with --type)" : ""}`,
      ]);
      return terminal.out(listTable(["type", "severity", "when"], lines, terminal.columns));
    });

  listCommand(notifications, "deliveries", "what was sent or waits, newest first")
    .option("--channel <channel>", "only of this channel: id or name")
    .option("--state <state>", `only ${DELIVERY_STATES.join(", ")}`)
    .action(({ channel, state, url, ...page }: ListOptions & { channel?: string; state?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const { rows, more } = await rowsOf(page, (limit) =>
          api.notifications.deliveries(asUnchecked(definedOnly({ channel, state, limit }))),
        );
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no notifications\n");
        const lines = rows.map((row) => [
          timeCell(row.created_at, context.wiring.now(), terminal.columns),
          row.channel,
          row.type,
          row.state,
          row.job_name ?? row.job_id ?? row.run_id ?? "",
          row.last_error ?? row.message,
        ]);
        terminal.out(listTable(["when", "channel", "type", "state", "job or run", "message"], lines, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );
}

function addAdd(notifications: Command, context: CliContext): void {
  const add = notifications.command("add").description("add a channel");
  for (const kind of CHANNEL_KINDS) {
    const command = apiCommand(add, kind.kind, `${kind.label}: ${kind.about}`).requiredOption(
      "--name <name>",
      "name of the channel",
    );
    withAboutFlags(withKindFlags(command, kind)).action(async (options: AboutOptions & UrlOption) => {
      const settings = await settingsOf(kind, { ...options }, context.wiring.prompt);
      const body = { kind: kind.kind, settings, ...aboutOf(options) };
      await context.withApi(definedOnly({ url: options.url }), async (api) => {
        const channel = await api.notifications.create(asUnchecked(body));
        show(context, channel);
        const test = nextCommand(`notifications test ${/\s/.test(channel.name) ? channel.id : channel.name}`, options);
        if (!context.json) context.terminal.out(`\nsend a test: ${test}\n`);
      });
    });
  }
}

type Channel = Awaited<ReturnType<OrbweaverClient["notifications"]["get"]>>;

interface ChangeOptions extends AboutOptions, UrlOption {
  set?: string[];
  secret?: string[];
}

const collect = (value: string, before: string[] = []) => [...before, value];

function addChange(notifications: Command, context: CliContext): void {
  const command = apiCommand(notifications, "update", "change a channel; what is not named stays")
    .argument("<channel>", "id or name")
    .option("--name <name>", "new name")
    .option("--set <setting=value>", "a setting of its kind; repeatable; a list is separated by commas", collect)
    .option("--secret <setting>", "a secret setting; read from a prompt or standard input; repeatable", collect)
    .option("--enable", "send again")
    .option("--disable", "send nothing; what waits is given up");
  withAboutFlags(command).action((id: string, options: ChangeOptions) =>
    context.withApi(definedOnly({ url: options.url }), async (api) => {
      const { fields } = channelKind((await api.notifications.get(id)).kind);
      const settings = {
        ...Object.fromEntries((options.set ?? []).map((text) => settingOf(text, fields))),
        ...(await secretsOf(options.secret ?? [], fields, context.wiring.prompt)),
      };
      const change = { ...aboutOf(options), ...(Object.keys(settings).length === 0 ? {} : { settings }) };
      if (Object.keys(change).length === 0)
        throw new OrbError("usage", "nothing to change was given", { hint: "See orb notifications update --help." });
      show(context, await api.notifications.update(id, asUnchecked(change)));
    }),
  );
}

function settingOf(text: string, fields: ReturnType<typeof channelKind>["fields"]): [string, unknown] {
  const at = text.indexOf("=");
  const name = text.slice(0, at);
  if (at < 1) throw new OrbError("usage", `--set: expected setting=value, got ${text}`);
  const field = fields[name];
  const value = text.slice(at + 1);
  if (field === undefined) return [name, value];
  if (field.secret === true)
    throw new OrbError("usage", `--set: ${name} is a secret`, { hint: `Use --secret ${name}: it is read separately.` });
  if (field.type === "list") return [name, value === "" ? [] : value.split(",").map((one) => one.trim())];
  return [name, value === "" ? null : parsed(field, value)];
}

function show({ json, terminal }: CliContext, channel: Channel): void {
  if (json) return printJson(terminal, channel);
  const { quiet_hours: quiet } = channel;
  return terminal.out(
    facts(
      [
        ["id", channel.id],
        ["name", channel.name],
        ["kind", channel.kind],
        ["receiver", channel.target],
        ...Object.entries(channel.settings).map(([name, value]): [string, string] => [
          name,
          Array.isArray(value) ? value.join(", ") : String(value),
        ]),
        ["secrets", channel.secrets.join(", ") || null],
        ["receives", receives(channel.rules)],
        [
          "quiet hours",
          quiet === null
            ? null
            : `${quiet.from}-${quiet.to} ${quiet.timezone}${quiet.except === null ? "" : `, except ${quiet.except}`}`,
        ],
        ["grouping", channel.group_minutes === 0 ? null : `one message in ${channel.group_minutes} min`],
        ["status", channel.status],
        ["last error", channel.last_error === null ? null : `${channel.last_error} (${channel.last_error_at})`],
        ["last delivered", channel.last_delivered_at],
        ["waiting", channel.waiting === 0 ? null : String(channel.waiting)],
      ],
      terminal.columns,
    ),
  );
}

function receives(rules: Channel["rules"]): string {
  if (rules.length === 0) return "only what jobs ask for";
  return rules
    .map(({ types, min_severity: least, tags, sites, jobs }) => {
      const parts = [
        types?.join(", ") ?? "everything but run_completed and run_cancelled",
        least === undefined ? null : `from severity ${least}`,
        tags === undefined ? null : `of jobs tagged ${tags.join(" or ")}`,
        sites === undefined ? null : `of ${sites.join(" or ")}`,
        jobs === undefined ? null : `of the jobs ${jobs.join(", ")}`,
      ];
      return parts.filter((part) => part !== null).join(", ");
    })
    .join("; or ");
}
