import type { Command } from "commander";
import { OrbError } from "../../../base/errors.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import { suggest } from "../../../domain/text/suggest.ts";
import type { StepKindView } from "../../../orchestrator/workflows/kinds.ts";
import type { TemplateView } from "../../../orchestrator/workflows/templates.ts";
import { apiCommand, asUnchecked, definedOnly, nextCommand, timeCell, type UrlOption } from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { facts, listTable, printJson, table } from "../../print/output.ts";
import { schemaRows } from "../../print/schema-words.ts";
import { positiveInteger } from "../../values.ts";
import { withFileErrors, readWritten } from "../../workflow/workflow-source.ts";

/** Templates and step kinds: `orb workflows templates …` and `orb workflows kinds`. */
export function addTemplateCommands(workflows: Command, context: CliContext): void {
  const { terminal } = context;
  const templates = workflows
    .command("templates")
    .description("stored workflow definitions; each change creates a new version");

  apiCommand(templates, "list", "the newest version of every template").action((options: UrlOption) =>
    context.withApi(options, async (api) => {
      const all = await api.templates.list();
      if (context.json) return printJson(terminal, all);
      return terminal.out(
        listTable(
          ["name", "version", "built in", "description"],
          all.map(({ name, version, built_in: builtIn, description }) => [
            name,
            version,
            builtIn ? "yes" : "",
            description ?? "",
          ]),
          terminal.columns,
        ),
      );
    }),
  );

  apiCommand(templates, "show", "params and steps of a template")
    .argument("<name>")
    .option("--template-version <number>", "version to show (default: the newest)", positiveInteger)
    .action((name: string, options: UrlOption & { templateVersion?: number }) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        show(context, await api.templates.get(name, { version: options.templateVersion }));
      }),
    );

  apiCommand(templates, "versions", "every version of a template, newest first")
    .argument("<name>")
    .action((name: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const all = await api.templates.versions(name);
        if (context.json) return printJson(terminal, all);
        const now = context.wiring.now();
        return terminal.out(
          table(
            ["version", "saved", "description"],
            all.map(({ version, created_at: at, description }) => [
              version,
              at === null ? "built in" : timeCell(at, now, terminal.columns),
              description ?? "",
            ]),
            terminal.columns,
          ),
        );
      }),
    );

  apiCommand(templates, "put", "save a definition as a new template, or as the next version of an existing one")
    .argument("<name>")
    .argument("<file>", "definition file (YAML or JSON); - reads standard input")
    .action((name: string, path: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const file = await readWritten(context.wiring, path, "file");
        // Accepts the output of show --json.
        const definition = "steps" in file.value ? file.value : file.value["definition"];
        const template = await withFileErrors({ file }, options, () =>
          api.templates.put(name, asUnchecked({ definition })),
        );
        if (context.json) return printJson(terminal, template);
        terminal.out(`${template.name} version ${template.version}\n`);
        if (template.built_in) return;
        const all = await api.templates.versions(name);
        const builtIn = all.find(({ built_in: isBuiltIn }) => isBuiltIn);
        if (builtIn === undefined) return;
        const back = nextCommand(`workflows templates delete ${name}`, options);
        terminal.out(`it replaces the built-in version ${builtIn.version}; to undo: ${back}\n`);
      }),
    );

  apiCommand(templates, "delete", "delete all saved versions; a built-in template returns to its original version")
    .argument("<name>")
    .action((name: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        await api.templates.delete(name);
        if (context.json) printJson(terminal, { deleted: name });
        else terminal.out(`deleted ${name}\n`);
      }),
    );

  apiCommand(workflows, "kinds", "kinds of steps; with a name, the params of that kind")
    .argument("[kind]")
    .action((name: string | undefined, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const all = await api.workflows.stepKinds();
        if (name !== undefined) return showKind(context, kindNamed(all, name));
        if (context.json) return printJson(terminal, all);
        return terminal.out(
          table(
            ["kind", "description"],
            all.map(({ kind, about }) => [kind, about]),
            terminal.columns,
          ),
        );
      }),
    );
}

function kindNamed(all: readonly StepKindView[], name: string): StepKindView {
  const found = all.find(({ kind }) => kind === name);
  if (found !== undefined) return found;
  const names = all.map(({ kind }) => kind);
  const near = suggest(name, names);
  throw new OrbError("not_found", `there is no kind of step named ${name}`, {
    hint: near === undefined ? `Kinds: ${names.join(", ")}.` : `Did you mean ${near}?`,
  });
}

function showKind({ terminal, json }: CliContext, kind: StepKindView): void {
  if (json) return printJson(terminal, kind);
  return terminal.out(`${kind.kind}: ${kind.about}\n\n${paramsTable(kind.params, terminal.columns)}`);
}

function show({ terminal, json }: CliContext, template: TemplateView): void {
  if (json) return printJson(terminal, template);
  const { steps } = template.definition as unknown as { steps: readonly Record<string, JsonValue>[] };
  const names = (value: JsonValue | undefined) =>
    (Array.isArray(value) ? value : [])
      .map((one) => (typeof one === "number" ? (steps[one]?.["name"] ?? one) : one))
      .join(", ");
  terminal.out(
    facts(
      [
        ["name", template.name],
        ["version", template.version],
        ["saved", template.created_at ?? (template.built_in ? "built in" : null)],
        ["about", template.description],
      ],
      terminal.columns,
    ),
  );
  terminal.out(`\n${paramsTable(template.params, terminal.columns)}\n`);
  return terminal.out(
    table(
      ["step", "kind", "after", "when"],
      steps.map((step) => [
        String(step["name"]),
        String(step["task_type"]),
        names(step["dependencies"]),
        typeof step["when"] === "string" ? step["when"] : "",
      ]),
      terminal.columns,
    ),
  );
}

function paramsTable(schema: JsonValue, columns: number | undefined): string {
  const rows = schemaRows(schema);
  if (rows.length === 0) return "no params\n";
  return table(
    ["param", "type", "default", "about"],
    rows.map(({ name, type, fallback, about }) => [name, type, fallback, about]),
    columns,
  );
}
