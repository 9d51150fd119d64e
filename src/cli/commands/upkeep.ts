import type { Command } from "commander";
import { configRows } from "../../config/show.ts";
import type { CliContext } from "../context.ts";
import { copyDatabase } from "../copy-database.ts";
import { EXIT, paint, plural, printJson, table } from "../print/output.ts";

/** `orb audit`, `orb migrate`, `orb config`: maintenance. */
export function addUpkeepCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  program
    .command("audit")
    .description("check the consistency of the database, also while workers run; exits 1 if something is inconsistent")
    .option("--deep", "also read every stored file")
    .action(async (options: { deep?: boolean }) => {
      await context.withClient(async (client) => {
        const report = await client.audit({ deep: options.deep === true });
        if (report.findings.length > 0) context.exitCode = EXIT.failed;
        if (context.json) return printJson(terminal, { clean: report.findings.length === 0, ...report });
        for (const check of report.checks) {
          const broken = report.findings.filter((finding) => finding.check === check);
          terminal.out(
            `${broken.length === 0 ? paint(terminal, "green", "✓") : paint(terminal, "red", "✗")} ${check}\n`,
          );
          for (const finding of broken) terminal.out(`    ${finding.what}\n`);
        }
        return terminal.out(
          report.findings.length === 0 ? "clean\n" : `${plural(report.findings.length, "finding")}\n`,
        );
      });
    });

  program
    .command("migrate")
    .description("migrate the database to this version's schema; every other command does so automatically")
    .option("--to <url>", "copy the SQLite database into an empty schema of this Postgres; stop all processes first")
    .action(async ({ to: target }: { to?: string }) => {
      const { config } = context.wiring.loadConfig();
      if (target !== undefined) return copyDatabase(context, config, target);
      const { from, to, applied } = await context.wiring.migrate(config);
      if (context.json) return printJson(terminal, { from, to, applied });
      return terminal.out(
        applied.length === 0
          ? `the database has schema version ${to}: nothing to do\n`
          : `schema version ${from} → ${to}: ${applied.join(", ")}\n`,
      );
    });

  program
    .command("config")
    .description("the effective configuration, with secrets masked")
    .action(async () => {
      const loaded = context.wiring.loadConfig();
      const rows = configRows(loaded);
      if (context.json) return printJson(terminal, { options: rows, warnings: loaded.warnings });
      terminal.out(
        table(
          ["option", "value", "from"],
          rows.map((row) => [row.name, row.value ?? "", row.source ?? ""]),
        ),
      );
      for (const warning of loaded.warnings) terminal.err(`${warning}\n`);
      return undefined;
    });
}
