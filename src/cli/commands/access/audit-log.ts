import { type Command, Option } from "commander";
import { rowsOf } from "../../api/rows.ts";
import { asUnchecked, definedOnly, listCommand, type ListOptions, timeCell } from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { actorText } from "../../print/actor.ts";
import { listTable, printJson } from "../../print/output.ts";

interface LogOptions extends ListOptions {
  actor?: string;
  action?: string;
  object?: string;
  since?: string;
  until?: string;
  format?: "jsonl" | "csv";
}

/** `orb audit-log`; `orb audit` checks the database. */
export function addAuditLogCommand(program: Command, context: CliContext): void {
  const { terminal } = context;
  listCommand(program, "audit-log", "who changed what, newest first")
    .option("--actor <name>", "only changes of this key, schedule or person, by name or id")
    .option("--action <action>", "only this action, such as job.updated, or all of its kind: job")
    .option("--object <id>", "only changes of this job, run, site, …")
    .option("--since <time>", "only changes since this time, such as 2027-01-31T00:00:00Z")
    .option("--until <time>", "only changes before this time")
    .addOption(new Option("--format <format>", "print all matching entries as a file").choices(["jsonl", "csv"]))
    .action(({ actor, action, object, since, until, format, url, ...page }: LogOptions) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const query = definedOnly({ actor, action, object_id: object, since, until });
        if (format !== undefined) {
          const answer = await api.open("get /audit-log", asUnchecked({ query: { ...query, format } }));
          const decoder = new TextDecoder();
          for await (const part of answer) terminal.out(decoder.decode(part, { stream: true }));
          return undefined;
        }
        const { rows, more } = await rowsOf(page, (limit) => api.auditLog.list(asUnchecked({ ...query, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no entries\n");
        const now = context.wiring.now();
        const lines = rows.map(({ at, actor: who, action: what, object: { kind, id }, changes }) => [
          timeCell(at, now, terminal.columns),
          actorText(who),
          what,
          id ?? kind,
          changes.map(({ path }) => path).join(", "),
        ]);
        terminal.out(listTable(["when", "who", "action", "object", "fields"], lines, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );
}
