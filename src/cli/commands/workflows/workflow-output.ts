import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { messageOf, OrbError } from "../../../base/errors.ts";
import type { ArtifactView } from "../../../orchestrator/runs/view.ts";
import type { EntryView } from "../../../orchestrator/workflows/task-view.ts";
import type { OrbweaverClient } from "../../../api-client/client.ts";
import { rowsOf } from "../../api/rows.ts";
import {
  apiCommand,
  asUnchecked,
  definedOnly,
  fullId,
  listCommand,
  type ListOptions,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { listTable, printJson } from "../../print/output.ts";
import { resultWords, sizeWords } from "../../workflow/workflow-line.ts";
import { decodePercent } from "../../../domain/text/url.ts";

interface StepFile {
  step: string;
  name: string;
  artifact: ArtifactView;
}

/** Outputs of steps: `orb workflows files`, `items` and `entries`. */
export function addWorkflowOutputCommands(workflows: Command, context: CliContext): void {
  const { terminal, wiring } = context;
  apiCommand(workflows, "files", "files that steps produced, such as exports")
    .argument("<workflow_id>")
    .argument("[step]", "only those of this step")
    .option("--out <folder>", "write the files to this folder")
    .action((id: string, step: string | undefined, { url, out }: UrlOption & { out?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const files = await filesOf(api, await fullId(api, "workflow", id), step);
        if (out !== undefined) await makeFolder(out);
        const written = out === undefined ? [] : namesFor(files).map((name) => join(out, name));
        for (const [at, path] of written.entries())
          await wiring.write(path, await api.artifact(files[at]!.artifact.id));
        if (context.json)
          return printJson(
            terminal,
            files.map(({ step: of, name, artifact }, at) => ({
              step: of,
              name,
              ...artifact,
              ...definedOnly({ written: written[at] }),
            })),
          );
        if (files.length === 0) return terminal.out("no files\n");
        return terminal.out(fileTable(files, written, terminal.columns));
      }),
    );

  apiCommand(workflows, "items", "items that a completed step produced, one JSON object per line")
    .argument("<workflow_id>")
    .argument("<step>")
    .option("--out <file>", "write to this file")
    .action((id: string, step: string, { url, out }: UrlOption & { out?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        if (out !== undefined) await wiring.refuseUnwritable(out);
        await wiring.write(out ?? null, linesOf(api, await fullId(api, "workflow", id), step));
        if (out !== undefined && context.json) printJson(terminal, { written: out });
      }),
    );

  listCommand(workflows, "entries", "entries of a for_each step, in list order")
    .argument("<workflow_id>")
    .argument("<step>")
    .option("--status <status>", "only those in this state, such as failed")
    .action((id: string, step: string, { status, url, ...page }: ListOptions & { status?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const flow = await fullId(api, "workflow", id);
        const { rows, more } = await rowsOf(page, (limit) =>
          api.workflows.entries(flow, step, asUnchecked({ status, limit })),
        );
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no entries\n");
        terminal.out(entryTable(rows, terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );
}

async function filesOf(api: OrbweaverClient, id: string, step: string | undefined): Promise<StepFile[]> {
  const tasks = step === undefined ? await api.workflows.tasks(id).take() : [await api.workflows.task(id, step)];
  return tasks.flatMap(({ task_name: name, artifacts }) =>
    artifacts
      .filter(({ role }) => role !== "items")
      .map((artifact) => ({ step: name, name: nameOf(artifact), artifact })),
  );
}

/** The last path segment of its URL; nothing that leads out of a folder. */
function nameOf({ url, id }: ArtifactView): string {
  const name = decodePercent(url.split("/").at(-1) ?? "");
  return name.replace(/[^\p{L}\p{N} ._-]/gu, "_").replace(/^\.+/, "") || id;
}

/** Two steps may use the same file name. */
function namesFor(files: readonly StepFile[]): string[] {
  const all = files.map(({ name }) => name);
  const seen = new Set<string>();
  return files.map(({ step, name, artifact }) => {
    const isAlone = all.indexOf(name) === all.lastIndexOf(name);
    const longer = isAlone ? name : `${step.replace(/[^\p{L}\p{N} ._-]/gu, "_")}-${name}`;
    const unique = seen.has(longer) ? `${artifact.id}-${name}` : longer;
    seen.add(unique);
    return unique;
  });
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw new OrbError("input_invalid", `cannot write to ${path}: ${messageOf(error)}`, {
      cause: error,
      fields: [{ path: "out", message: "is not a writable folder" }],
    });
  }
}

function fileTable(files: readonly StepFile[], written: readonly string[], columns: number | undefined): string {
  return listTable(
    ["step", "size", "type", written.length > 0 ? "written to" : "id", "name"],
    files.map(({ step, name, artifact }, at) => [
      step,
      sizeWords(artifact.size),
      artifact.content_type ?? "",
      written[at] ?? artifact.id,
      name,
    ]),
    columns,
  );
}

async function* linesOf(api: OrbweaverClient, id: string, step: string): AsyncGenerator<Uint8Array> {
  for await (const item of api.workflows.items(id, step, { limit: 1000 }))
    yield Buffer.from(`${JSON.stringify(item)}\n`);
}

const LONGEST_CELL = 200;

function shortened(text: string): string {
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
}

function entryTable(entries: readonly EntryView[], columns: number | undefined): string {
  return listTable(
    ["index", "status", "attempts", "result", "entry"],
    entries.map((entry) => [
      entry.index,
      entry.status,
      entry.attempts.length,
      entry.error_message ?? resultWords(entry.result),
      shortened(typeof entry.item === "string" ? entry.item : JSON.stringify(entry.item)),
    ]),
    columns,
  );
}
