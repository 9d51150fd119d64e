import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { CliContext } from "../../src/cli/context.ts";
import { buildProgram } from "../../src/cli/program.ts";
import type { Wiring } from "../../src/cli/wiring.ts";
import { Orb } from "../chaos/orb.ts";
import { read } from "../support/source.ts";

const silent = { out: () => {}, err: () => {}, live: false, colour: false };
const program = buildProgram(new CliContext({ terminal: silent } as unknown as Wiring), "1.2.3");

function walk(command: Command, path: readonly string[] = []): { command: Command; path: readonly string[] }[] {
  return [{ command, path }, ...command.commands.flatMap((child) => walk(child, [...path, child.name()]))];
}

const all = walk(program);
const leaves = all.filter(({ command }) => command.commands.length === 0);

test("every command says in a sentence what it does, and so does every option", () => {
  for (const { command, path } of all) {
    assert.notEqual(command.description(), "", path.join(" "));
    for (const option of command.options)
      assert.ok((option.description ?? "") !== "", `${path.join(" ")} ${option.flags}`);
  }
});

test("the help of every command names each of its options and arguments", () => {
  for (const { command, path } of leaves) {
    const help = command.helpInformation();
    for (const option of command.options) assert.ok(help.includes(option.flags), `${path.join(" ")}: ${option.flags}`);
    for (const argument of command.registeredArguments) assert.ok(help.includes(argument.name()), path.join(" "));
  }
});

test("every command takes --json", () => {
  for (const { command, path } of leaves)
    assert.ok(
      command.options.some((option) => option.long === "--json"),
      path.join(" "),
    );
});

test("docs/cli.md shows the help of every command", () => {
  const page = read("docs/cli.md");
  for (const { path } of all) assert.ok(page.includes(`## orb ${path.join(" ")}`.trim()), path.join(" "));
});

test("asking for help or for the version is no mistake; forgetting the command is", async () => {
  await using orb = new Orb();
  const [help, queueHelp, version, nothing, half] = await Promise.all([
    orb.run(["--help"]),
    orb.run(["queue", "import", "--help"]),
    orb.run(["--version"]),
    orb.run([]),
    orb.run(["queue"]),
  ]);
  assert.deepEqual([help.code, queueHelp.code, version.code, nothing.code, half.code], [0, 0, 0, 2, 2]);
  assert.match(help.stdout, /Usage: orb /);
  assert.match(queueHelp.stdout, /Usage: orb queue import/);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
});

test("no help is wider than 80 columns or breaks a word", () => {
  for (const { command, path } of all) {
    const help = command.createHelp();
    help.helpWidth = 80;
    const text = help.formatHelp(command, help);
    const words = new Set(text.split(/\s+/));
    const shown = [
      command.description(),
      ...help.visibleCommands(command).map((child) => help.subcommandDescription(child)),
      ...help.visibleOptions(command).map((option) => help.optionDescription(option)),
      ...help.visibleArguments(command).map((argument) => help.argumentDescription(argument)),
    ];
    for (const word of shown.flatMap((part) => part.split(/\s+/)))
      assert.ok(words.has(word), `orb ${path.join(" ")} --help breaks ${JSON.stringify(word)}:\n${text}`);
    // With what stands below it: examples, and how a list is written.
    let whole = "";
    command.configureOutput({ writeOut: (part) => (whole += part), getOutHelpWidth: () => 80 }).outputHelp();
    for (const line of whole.split("\n"))
      if (!line.startsWith("Usage:")) assert.ok(line.length <= 80, `orb ${path.join(" ")} --help: ${line}`);
  }
});
