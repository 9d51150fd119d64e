/** Reads the files that ship the product, as far as they can be judged without running them. */
import assert from "node:assert/strict";
import type { Command } from "commander";
import { parseAllDocuments } from "yaml";
import { CliContext } from "../../src/cli/context.ts";
import { buildProgram } from "../../src/cli/program.ts";
import type { Wiring } from "../../src/cli/wiring.ts";
import type { Config } from "../../src/config/options.ts";
import { loadConfig } from "../../src/config/load.ts";
import { read } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

export type Env = Record<string, string>;

export interface Instruction {
  word: string;
  rest: string;
}

/** The documents of a YAML file; a slip that a parser would only warn of fails here. */
export function yamlIn(path: string): unknown[] {
  return parseAllDocuments(read(path), { merge: true }).map((document) => {
    assert.deepEqual([...document.errors, ...document.warnings], [], path);
    return document.toJS() as unknown;
  });
}

/** The stages of a Dockerfile, each from its FROM on. */
export function stagesOf(dockerfile: string): Instruction[][] {
  const text = dockerfile.replace(/^\s*#.*\n/gm, "").replace(/\\\n/g, " ");
  const stages: Instruction[][] = [];
  for (const line of text.split("\n").filter((candidate) => candidate.trim() !== "")) {
    const match = /^([A-Z]+)\s+(.*)$/.exec(line.trim());
    assert.ok(match !== null, `not an instruction: ${line}`);
    const [, word = "", rest = ""] = match;
    if (word === "FROM") stages.push([]);
    stages.at(-1)?.push({ word, rest });
  }
  return stages;
}

export function envOf(stage: readonly Instruction[]): Env {
  const words = stage.filter(({ word }) => word === "ENV").flatMap(({ rest }) => rest.trim().split(/\s+/));
  return Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
}

/** An image has a name and a version that does not move to the next major one by itself. */
export function assertPinned(image: string): void {
  assert.match(image, /^[\w./-]+:\d+(\.\d+)*(-[\w.-]+)?$/, `${image} has a version`);
}

/** Loads what a process would be started with, the empty secrets filled in: nothing unknown, nothing refused. */
export function assertConfig(env: Env): Config {
  const secret = "0123456789abcdef0123456789abcdef";
  const filled = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value === "" ? secret : value.replaceAll("CHANGE-ME", "change-me"),
    ]),
  );
  using folder = tempDir();
  const { config, warnings } = loadConfig({ env: filled, cwd: folder.path });
  assert.deepEqual(warnings, []);
  return config;
}

const silent = { out: () => {}, err: () => {}, live: false, colour: false };
const program = buildProgram(new CliContext({ terminal: silent } as unknown as Wiring), "1.2.3");

/** These words after `orb` are a command that exists, with options that it has. */
export function assertCommand(words: readonly string[]): void {
  const [name = "", ...rest] = words;
  const command: Command | undefined = program.commands.find((candidate) => candidate.name() === name);
  assert.ok(command !== undefined, `orb ${name} is a command`);
  const { operands, unknown } = command.parseOptions([...rest]);
  assert.deepEqual({ operands, unknown }, { operands: [], unknown: [] }, `orb ${words.join(" ")}`);
}

/** How long a process may take from SIGTERM to its end; what cannot be handed back in time is left after two seconds. */
export function assertTimeToStop(seconds: number, { shutdownGraceMs }: Config): void {
  const least = shutdownGraceMs / 1000 + 5;
  assert.ok(seconds >= least, `${seconds} s to stop, at least ${least} are needed`);
}
