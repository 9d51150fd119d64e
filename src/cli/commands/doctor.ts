import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { EXIT, paint, printJson } from "../print/output.ts";

const MARKS = { ok: ["green", "✓"], warning: ["yellow", "!"], problem: ["red", "✗"] } as const;

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command("doctor")
    .description("look at everything the product needs, and say how to mend what is wrong")
    .option("--fix", "mend what can be mended: install a Chromium (as root on Debian), make folders, close open keys")
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
