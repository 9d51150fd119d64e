import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { EXIT, paint, printJson } from "../print/output.ts";

const MARKS = { ok: ["green", "✓"], warning: ["yellow", "!"], problem: ["red", "✗"] } as const;

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command("doctor")
    .description("check the installation and print a fix for each problem")
    .option(
      "--fix",
      "repair what is possible: install Chromium (as root on Debian), create folders, restrict permissions of key files",
    )
    .action(async ({ fix }: { fix?: boolean }) => {
      const { terminal } = context;
      const checks = await context.wiring.doctor(fix === true ? (what) => terminal.err(`${what}\n`) : null);
      if (context.json) printJson(terminal, { healthy: checks.every((check) => check.status !== "problem"), checks });
      else
        for (const check of checks) {
          const [colour, mark] = MARKS[check.status];
          terminal.out(`${paint(terminal, colour, mark)} ${check.name.padEnd(14)} ${check.what}\n`);
          if (check.fix !== null) terminal.out(`  ${" ".repeat(14)} ${paint(terminal, "gray", `→ ${check.fix}`)}\n`);
        }
      if (checks.some((check) => check.status === "problem")) context.exitCode = EXIT.failed;
    });
}
