import type { Command } from "commander";
import { ALERT_KINDS } from "../../domain/run/alerts.ts";
import type { AlertView } from "../../orchestrator/alerts.ts";
import { rowsOf } from "../api/rows.ts";
import { asUnchecked, definedOnly, listCommand, type ListOptions, timeCell } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { EXIT, listTable, printJson } from "../print/output.ts";

/** `orb alerts`: lists alerts, and tests their delivery. */
export function addAlertsCommand(program: Command, context: CliContext): void {
  const { terminal } = context;
  listCommand(program, "alerts", "alerts, newest first")
    .option("--kind <kind>", `only alerts of this kind: ${ALERT_KINDS.join(", ")}`)
    .option("--test", "send a test alert; exits 1 if the receiver does not accept it")
    .action(({ kind, test, url, ...page }: ListOptions & { kind?: string; test?: boolean }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        if (test === true) return printAlert(context, await api.alerts.test());
        const { rows, more } = await rowsOf(page, (limit) => api.alerts.list(asUnchecked({ kind, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no alerts\n");
        const lines = rows.map((row) => [
          timeCell(row.created_at, context.wiring.now(), terminal.columns),
          row.kind,
          row.subject,
          row.delivery,
          row.message,
        ]);
        terminal.out(listTable(["when", "kind", "about", "delivery", "message"], lines, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );
}

function printAlert(context: CliContext, alert: AlertView): void {
  const taken = alert.delivery === "delivered";
  if (!taken) context.exitCode = EXIT.failed;
  if (context.json) return printJson(context.terminal, alert);
  return context.terminal.out(
    taken ? "the alert was accepted\n" : `the alert was rejected: ${alert.last_error}; it is retried automatically\n`,
  );
}
