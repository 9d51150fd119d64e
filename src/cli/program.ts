import { Command, CommanderError } from "commander";
import { CliContext } from "./context.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addQueueCommands } from "./commands/queue.ts";
import { addUpkeepCommands } from "./commands/upkeep.ts";
import { EXIT, reportError } from "./output.ts";
import type { Wiring } from "./wiring.ts";

/** The whole command line; one function per group of commands adds itself here. */
export function buildProgram(context: CliContext, version: string): Command {
  const { terminal } = context;
  const program = new Command("orb")
    .description("Orbweaver: pages turned into records and files, reliably, from one machine or many")
    .version(version)
    .option("--json", "machine-readable output")
    .showHelpAfterError("(--help shows what there is)")
    .showSuggestionAfterError();
  addQueueCommands(program, context);
  addUpkeepCommands(program, context);
  addDoctorCommand(program, context);
  everyCommand(program, (command) => {
    command
      .exitOverride()
      .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) });
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

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 usage, 3 partial. */
export async function runCli(argv: string[], wiring: Wiring, version: string): Promise<number> {
  const context = new CliContext(wiring);
  try {
    await buildProgram(context, version).parseAsync(argv, { from: "user" });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return reportError(wiring.terminal, error, context.json || argv.includes("--json"));
  }
}
