import { type Command, Option } from "commander";
import type { Workflow, WorkflowTask } from "../../../api-client/client.ts";
import { TASK_STATES } from "../../../domain/run/states.ts";
import type { WorkflowProgress } from "../../../orchestrator/workflows/progress.ts";
import { STATUS_GROUPS } from "../../../orchestrator/workflows/read.ts";
import { WORKFLOW_STATUSES, type WorkflowView } from "../../../orchestrator/workflows/view.ts";
import { rowsOf } from "../../api/rows.ts";
import {
  apiCommand,
  asUnchecked,
  definedOnly,
  fullId,
  listCommand,
  type ListOptions,
  timeCell,
  type UrlOption,
} from "../../api/command.ts";
import type { CliContext } from "../../context.ts";
import { EXIT, facts, listTable, printJson } from "../../print/output.ts";
import { span } from "../../print/progress.ts";
import { workflowText } from "../../workflow/workflow-display.ts";
import { failureWords } from "../../print/waiting-words.ts";
import { lookAt, WorkflowDetails } from "../../workflow/workflow-follow.ts";
import { resultWords, took } from "../../workflow/workflow-line.ts";
import {
  addParamOptions,
  bodyOf,
  faultLine,
  type ParamOptions,
  withPositions,
  readSource,
} from "../../workflow/workflow-source.ts";
import { addWorkflowOutputCommands } from "./workflow-output.ts";
import { addWorkflowRunCommands } from "./workflow-run.ts";
import { addTemplateCommands } from "./workflow-templates.ts";

/** `orb workflows …`: steps that depend on each other, run, watched and steered. */
export function addWorkflowsCommands(program: Command, context: CliContext): void {
  const { terminal } = context;
  const workflows = program
    .command("workflows")
    .description("workflows: run steps that depend on each other; watch, control and recover them");

  addWorkflowRunCommands(workflows, context);

  addParamOptions(apiCommand(workflows, "validate", "check a definition and list all errors with their position"))
    .argument("<file|template>", "definition file (YAML or JSON), - for standard input, or the name of a template")
    .action((word: string, options: UrlOption & ParamOptions) => validate(context, word, options));

  type Filters = ListOptions & { status?: string; job?: string; template?: string; search?: string };
  listCommand(workflows, "list", "workflows, newest first")
    .addOption(
      new Option(
        "--status <status>",
        "active: running or recovering; recoverable: failed, with recoveries left",
      ).choices([...STATUS_GROUPS, ...WORKFLOW_STATUSES]),
    )
    .option("--job <job_id>", "only those of this job")
    .option("--template <name>", "only those created from this template")
    .option("--search <text>", "only those with this text in their name")
    .action(({ status, job, template, search, url, ...page }: Filters) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const query = definedOnly({
          status,
          job_id: job === undefined ? undefined : await fullId(api, "job", job),
          template,
          q: search,
        });
        const { rows, more } = await rowsOf(page, (limit) => api.workflows.list(asUnchecked({ ...query, limit })));
        if (context.json) return printJson(terminal, rows);
        if (rows.length === 0) return terminal.out("no workflows\n");
        terminal.out(workflowTable(rows, context.wiring.now(), terminal.columns));
        if (more) terminal.err("there are more entries: use --limit or --all\n");
        return undefined;
      }),
    );

  apiCommand(workflows, "show", "one workflow and its steps")
    .argument("<workflow_id>")
    .action((id: string, options: UrlOption) =>
      context.withApi(options, async (api) => {
        const workflow = await api.workflows.get(await fullId(api, "workflow", id));
        if (context.json) return printJson(terminal, workflow);
        const progress = await lookAt(api, workflow.id);
        terminal.out(factsOf(workflow, progress, context.wiring.now(), terminal.columns));
        const details = await new WorkflowDetails(api).of(progress);
        const screen = { columns: terminal.columns, now: context.wiring.now() };
        return terminal.out(`\n${workflowText(terminal, progress, details, screen)}`);
      }),
    );

  apiCommand(workflows, "tasks", "steps of a workflow: attempts, times, output or failure")
    .argument("<workflow_id>")
    .addOption(
      new Option(
        "--status <status>",
        "only those in this state; retryable: a retry is scheduled, or may fix the failure",
      ).choices([...TASK_STATES, "retryable"]),
    )
    .action((id: string, { status, url }: UrlOption & { status?: string }) =>
      context.withApi(definedOnly({ url }), async (api) => {
        const tasks = await api.workflows.tasks(await fullId(api, "workflow", id), asUnchecked({ status })).take();
        if (context.json) return printJson(terminal, tasks);
        return terminal.out(tasks.length === 0 ? "no tasks\n" : taskTable(tasks, terminal.columns));
      }),
    );

  for (const [name, description] of [
    ["pause", "finish running steps and start no new ones"],
    ["cancel", "cancel a workflow and its child runs; cannot be undone"],
  ] as const)
    apiCommand(workflows, name, description)
      .argument("<workflow_id>")
      .action((id: string, options: UrlOption) =>
        context.withApi(options, async (api) => {
          const workflow = await api.workflows[name](await fullId(api, "workflow", id));
          if (context.json) printJson(terminal, workflow);
          else terminal.out(`${workflow.id} ${workflow.status}\n`);
        }),
      );

  apiCommand(workflows, "delete", "delete a workflow with its steps, child runs and files")
    .argument("<workflow_id>")
    .option("--force", "cancel it first if it has not ended")
    .action((id: string, options: UrlOption & { force?: boolean }) =>
      context.withApi(definedOnly({ url: options.url }), async (api) => {
        const query = options.force === true ? { force: true } : {};
        await api.workflows.delete(await fullId(api, "workflow", id), query);
        if (context.json) printJson(terminal, { deleted: id });
        else terminal.out(`deleted ${id}\n`);
      }),
    );

  addWorkflowOutputCommands(workflows, context);
  addTemplateCommands(workflows, context);
}

async function validate(context: CliContext, word: string, options: UrlOption & ParamOptions): Promise<void> {
  const { terminal, wiring } = context;
  const source = await readSource(wiring, word);
  await context.withApi(definedOnly({ url: options.url }), async (api) => {
    const { definition, template, params } = await bodyOf(wiring, api, source, options);
    const body = definedOnly({ definition, template, params });
    const { valid, errors } = await api.workflows.validate(asUnchecked(body));
    const faults = "file" in source ? await withPositions(source.file, errors) : errors;
    if (!valid) context.exitCode = EXIT.usage;
    if (context.json) return printJson(terminal, { valid, errors: faults });
    if (valid) return terminal.out("the definition is valid\n");
    const file = "file" in source ? source.file : null;
    return terminal.out(faults.map((fault) => `${faultLine(file, fault)}\n`).join(""));
  });
}

function workflowTable(workflows: readonly WorkflowView[], now: number, columns: number | undefined): string {
  return listTable(
    ["id", "status", "progress", "steps", "created", "name"],
    workflows.map((workflow) => [
      workflow.id,
      workflow.status,
      `${workflow.progress} %`,
      stepsCell(workflow),
      timeCell(workflow.created_at, now, columns),
      workflow.name,
    ]),
    columns,
  );
}

/** Ended steps of all; of a cancelled workflow all have ended, completed or not. */
function stepsCell({ status, ended_steps: over, total_steps: total }: WorkflowView): string {
  return status === "failed" || status === "cancelled" ? `${total}` : `${over}/${total}`;
}

function factsOf(workflow: Workflow, progress: WorkflowProgress, now: number, columns: number | undefined): string {
  const waits = workflow.waiting_for;
  const last = waits?.last_failure ?? null;
  const { template, recovery_attempts: recoveries, params, metadata } = workflow;
  const { time_remaining_seconds: left, elapsed_seconds: spent } = progress;
  const json = (value: object) => (Object.keys(value).length === 0 ? null : JSON.stringify(value));
  return facts(
    [
      ["id", workflow.id],
      ["name", workflow.name],
      ["status", workflow.status],
      ["progress", `${workflow.progress} %${left === null || left === 0 ? "" : `, about ${span(left)} left`}`],
      ["failure", workflow.error_message],
      ["recoveries", recoveries === 0 ? null : `${recoveries} of ${workflow.max_recovery_attempts}`],
      ["template", template === null ? null : `${template.name}, version ${template.version}`],
      ["job", workflow.job_id],
      ["rerun of", workflow.rerun_of],
      ["params", json(params)],
      ["metadata", json(metadata)],
      ["message", workflow.message],
      ["waits", waits?.message ?? null],
      ["last error", last === null ? null : failureWords(last, now)],
      ["created", workflow.created_at],
      ["started", workflow.started_at],
      ["took", workflow.completed_at === null || spent === null ? null : span(spent)],
    ],
    columns,
  );
}

function taskTable(tasks: readonly WorkflowTask[], columns: number | undefined): string {
  return listTable(
    ["step", "status", "kind", "attempts", "took", "items", "result"],
    tasks.map((task) => [
      task.task_name,
      task.status,
      task.task_type,
      task.attempts.length,
      task.actual_duration === null ? "" : took(task.actual_duration),
      task.items_count ?? "",
      task.error_message ?? resultWords(task.result),
    ]),
    columns,
  );
}
