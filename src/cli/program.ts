import { Command, CommanderError } from "commander";
import { OrbError } from "../base/errors.ts";
import { CliContext } from "./context.ts";
import { addAuditLogCommand } from "./commands/access/audit-log.ts";
import { addKeysCommands } from "./commands/access/keys.ts";
import { addAlertsCommand } from "./commands/alerts.ts";
import { addCaptureCommand } from "./commands/capture.ts";
import { addCrawlCommand } from "./commands/crawl.ts";
import { addDemoCommand } from "./commands/demo.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addJobsCommands } from "./commands/jobs.ts";
import { addLearnCommand } from "./commands/learn.ts";
import { addSearchCommand } from "./commands/search.ts";
import { addLoginCommand } from "./commands/login.ts";
import { addNotificationsCommands } from "./commands/notifications/notifications.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addProxiesCommands } from "./commands/proxies.ts";
import { addQueueCommands } from "./commands/queue.ts";
import { addRunsCommands } from "./commands/runs/runs.ts";
import { addSchedulesCommands } from "./commands/schedules.ts";
import { addScrapeCommand } from "./commands/scrape.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addSessionsCommands } from "./commands/sessions.ts";
import { addSitesCommands } from "./commands/sites.ts";
import { addUpCommand } from "./commands/up.ts";
import { addUpkeepCommands } from "./commands/upkeep.ts";
import { addWorkerCommand } from "./commands/worker.ts";
import { addWorkersCommands } from "./commands/workers.ts";
import { addWorkflowsCommands } from "./commands/workflows/workflows.ts";
import { EXIT, reportError } from "./print/output.ts";
import type { Wiring } from "./wiring.ts";

/** The whole command line; each group of commands registers itself here. */
export function buildProgram(context: CliContext, version: string): Command {
  const { terminal } = context;
  const program = new Command("orb")
    .description("Orbweaver: self-hosted web scraping, on one machine or many")
    .version(version)
    .option("--json", "machine-readable output")
    // Below its default of 40, commander does not wrap at all, and the terminal breaks words.
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError("(see --help)")
    .showSuggestionAfterError();
  addScrapeCommand(program, context);
  addCaptureCommand(program, context);
  addLearnCommand(program, context);
  addSearchCommand(program, context);
  addJobsCommands(program, context);
  addRunsCommands(program, context);
  addSchedulesCommands(program, context);
  addWorkflowsCommands(program, context);
  addSessionsCommands(program, context);
  addLoginCommand(program, context);
  addServeCommand(program, context);
  addWorkerCommand(program, context);
  addUpCommand(program, context);
  addWorkersCommands(program, context);
  addQueueCommands(program, context);
  addSitesCommands(program, context);
  addProxiesCommands(program, context);
  addAlertsCommand(program, context);
  addNotificationsCommands(program, context);
  addKeysCommands(program, context);
  addAuditLogCommand(program, context);
  addUpkeepCommands(program, context);
  addCrawlCommand(program, context);
  addMcpCommand(program, context);
  addDoctorCommand(program, context);
  addDemoCommand(program, context);
  everyCommand(program, (command) => {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => {
        if (!context.json) terminal.err(text);
      },
    });
    // Every command takes --json, before or after its own name.
    if (command !== program && command.commands.length === 0) command.option("--json", "machine-readable output");
  });
  program.hook("preAction", (_, command) => {
    context.json = command.optsWithGlobals<{ json?: boolean }>().json === true;
  });
  return program;
}

function everyCommand(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const child of command.commands) everyCommand(child, apply);
}

function usageError(error: CommanderError): OrbError {
  const message = error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /, "");
  return new OrbError("usage", message, { hint: "See --help." });
}

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 usage, 3 partial, 130 Ctrl-C. */
export async function runCli(argv: string[], wiring: Wiring, version: string): Promise<number> {
  const context = new CliContext(wiring);
  // Set before parsing: a usage error is reported in the same form.
  context.json = argv.includes("--json");
  try {
    await buildProgram(context, version).parseAsync(argv, { from: "user" });
    return context.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(wiring.terminal, error, context.json);
    if (error.exitCode === 0) return EXIT.done;
    // Commander has already printed it for people, with a suggestion or the help.
    return context.json ? reportError(wiring.terminal, usageError(error), true) : EXIT.usage;
  }
}
