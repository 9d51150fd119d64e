// node scripts/docs.mjs [--check]: generates reference pages from tables in the source, or lists stale ones.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isNewEnough } from "../bin/handover.mjs";
import { ensureInstalled, node24, root, run, script } from "./bootstrap.mjs";
import { apiPage, eventsPage, rolesPage } from "./reference.mjs";

await script(async (args) => {
  await ensureInstalled();
  // Importing the tables needs a Node that runs TypeScript.
  if (!isNewEnough(process.versions.node)) return run(node24(), process.argv.slice(1));
  const pages = {
    "docs/api-reference.md": await apiPage(),
    "docs/cli.md": await cliPage(),
    "docs/configuration.md": await configurationPage(),
    "docs/errors.md": await errorsPage(),
    "docs/events.md": await eventsPage(),
    "docs/roles.md": await rolesPage(),
    "docs/step-kinds.md": await stepKindsPage(),
  };
  const stale = Object.entries(pages).filter(([path, text]) => readIfThere(path) !== text);
  if (args.includes("--check")) {
    for (const [path] of stale) process.stderr.write(`${path} is stale: run node scripts/docs.mjs\n`);
    return stale.length === 0 ? 0 : 1;
  }
  for (const [path, text] of stale) writeFileSync(join(root, path), text);
  return 0;
});

function readIfThere(path) {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return undefined;
  }
}

async function configurationPage() {
  const { OPTIONS } = await import("../src/config/options.ts");
  const options = Object.values(OPTIONS);
  const rows = options.map((option) => {
    const fallback = option.default === null ? (option.otherwise ?? "unset") : `\`${option.default}\``;
    const alias = option.alias === undefined ? "" : ` \`${option.alias}\` is an alias.`;
    return `| \`${option.name}\` | ${fallback} | ${option.about}${alias} |`;
  });
  const details = options.map((option) => {
    const example =
      option.example.includes("`") || option.example.includes("…") ? option.example : `\`${option.example}\``;
    const secret =
      option.secret === "whole"
        ? " Never shown."
        : option.secret === "password"
          ? " A password in it is masked wherever it is shown."
          : "";
    return `- \`${option.name}\`: ${option.type.expected}; for example ${example}.${secret}`;
  });
  return `# Configuration

<!-- Made from src/config/options.ts by \`node scripts/docs.mjs\`; edit there. -->

Set options as environment variables, or in a \`.env\` file in the working directory; the environment takes precedence.
An empty variable counts as unset. At startup all invalid values are reported together, each with the expected format. An
unknown \`APP_…\` variable causes a warning. \`orb config\` prints the current values and their sources, with secrets masked.

| variable | default | |
|---|---|---|
${rows.join("\n")}

## Values

Numbers of seconds, minutes and hours may have fractions. Booleans are \`true\`, \`false\`, \`1\`, \`0\`, \`yes\` or \`no\`. Paths, also
those after \`sqlite:\`, are absolute or relative to the working directory.

${details.join("\n")}

## Rules between options

- \`APP_HEARTBEAT_SECONDS\` is at most a third of \`APP_LEASE_TTL_SECONDS\`.
- \`APP_RETRY_MAX_SECONDS\` is at least \`APP_RETRY_BASE_SECONDS\`.
- An \`APP_HOST\` that is not loopback needs an \`APP_API_TOKEN\`.
- \`APP_REDIS_URL\` needs a Postgres \`APP_DATABASE_URL\`, or redis in \`APP_MANAGED_SERVICES\`.
- Postgres needs \`APP_REDIS_URL\`, or redis in \`APP_MANAGED_SERVICES\`.
- A bucket in \`APP_ARTIFACTS_URL\` needs \`APP_S3_ACCESS_KEY_ID\` and \`APP_S3_SECRET_ACCESS_KEY\`.
`;
}

async function errorsPage() {
  const { ERROR_CATALOGUE } = await import("../src/base/errors.ts");
  const reactions = {
    retry: "repeat the call later",
    wait: "wait until the resource is available again",
    give_up: "do not repeat the call: it will fail again; other work is not affected",
    fix_input: "change the input",
    stop: "the process cannot continue until an operator acts",
  };
  const rows = Object.entries(ERROR_CATALOGUE).map(
    ([code, entry]) => `| \`${code}\` | ${entry.reaction} | ${entry.meaning} | ${entry.remedy} |`,
  );
  return `# Errors

<!-- Made from src/base/errors.ts by \`node scripts/docs.mjs\`; edit there. -->

Every expected error of the program has one of these codes. A code never changes its meaning, and a retired code is never reused.
These are errors of commands and calls; why a task failed is in its \`failure_code\` and \`failure_reason\`.

| code | reaction | what happened | what to do |
|---|---|---|---|
${rows.join("\n")}

The reaction is what your program should do:

${Object.entries(reactions)
  .map(([name, meaning]) => `- **${name}**: ${meaning}.`)
  .join("\n")}
`;
}

async function stepKindsPage() {
  // Kinds that need more explanation than their params.
  const explained = {
    archive: "workflows-templates.md#archive",
    cleanup: "workflows-templates.md#cleanup",
    compare: "workflows-templates.md#compare",
    crawl: "workflows.md#fetch-webhook-and-wait-steps",
    deduplicate: "texts.md#deduplicate",
    download: "workflows.md#fetch-webhook-and-wait-steps",
    export: "workflows-templates.md#export",
    filter: "texts.md#filter",
    label: "workflows-templates.md#label",
    scrape: "workflows.md#fetch-webhook-and-wait-steps",
    validate: "images.md",
    wait: "workflows.md#fetch-webhook-and-wait-steps",
    webhook: "workflows.md#webhooks",
  };
  const { createStepKinds } = await import("../src/workflows/registry.ts");
  const { schemaRows } = await import("../src/cli/print/schema-words.ts");
  const cell = (text) => text.replaceAll("|", String.raw`\|`);
  const sections = createStepKinds({ webhookSecret: null, images: null }, [])
    .all()
    .map(({ kind, about, params }) => {
      const rows = schemaRows(params).map(
        ({ name, type, fallback, about: words }) =>
          `| \`${name}\` | ${cell(type)}${fallback === "required" ? "; required" : ""} | ${cell(words)} |`,
      );
      const table = rows.length === 0 ? "It has no params." : `| param | type | |\n|---|---|---|\n${rows.join("\n")}`;
      const more = explained[kind] === undefined ? "" : ` [More](${explained[kind]}).`;
      return `## ${kind}\n\n${about}${more}\n\n${table}\n`;
    });
  return `# Kinds of steps

<!-- Made from src/workflows/steps by \`node scripts/docs.mjs\`; edit there. -->

The \`params\` of each kind of step in a [workflow](workflows.md). Unknown names are rejected. A value may be an
[expression](workflow-definitions.md#expressions), which is checked when the step starts. \`orb workflows kinds\` prints the
same, including [your own kinds](steps.md).

${sections.join("\n")}`;
}

async function cliPage() {
  const { buildProgram } = await import("../src/cli/program.ts");
  const { CliContext } = await import("../src/cli/context.ts");
  const { EXIT } = await import("../src/cli/print/output.ts");
  const silent = { out: () => {}, err: () => {}, live: false, colour: false };
  const program = buildProgram(new CliContext({ terminal: silent }), "");
  const meanings = {
    done: "done",
    failed: "failed, or a check found a problem",
    usage: "invalid command line, configuration or input",
    partial: "partly done: some lines were invalid, some items failed, or work remains",
    interrupted: "stopped by Ctrl-C (`orb scrape`, `orb runs events --follow`)",
  };
  return `# Command line

<!-- Made from the program's own help by \`node scripts/docs.mjs\`; edit the commands in src/cli. -->

In a clone, \`orb\` is \`./bin/orb\`. Results go to standard output, progress and messages to standard error.
With \`--json\`, standard output contains exactly one JSON value; an error is \`{"error": {"code", "message", "hint", "fields"}}\`
with a code of [errors.md](errors.md).

| exit code | |
|---|---|
${Object.entries(EXIT)
  .map(([name, code]) => `| ${code} | ${meanings[name]} |`)
  .join("\n")}

${helpOf(program, ["orb"]).join("\n")}`;
}

/** Help of a command and its subcommands, wrapped the same on every terminal. */
function helpOf(command, path) {
  const help = command.configureHelp({ helpWidth: 100 }).helpInformation().trim();
  return [
    `## ${path.join(" ")}\n\n\`\`\`\n${help}\n\`\`\`\n`,
    ...command.commands.flatMap((child) => helpOf(child, [...path, child.name()])),
  ];
}
