import { nullable, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Row } from "../../api-client/client.ts";
import { adviceFor } from "../advice.ts";
import { costOf, headOf, short, takeFitting } from "../bounds.ts";
import { AROUND } from "../records.ts";
import { Cursor, id, NextShape, NORMAL_CHARS, Text, Total, waitSeconds } from "../shapes.ts";
import { defineTool, type Next, type ToolCall } from "../tool.ts";
import { artifactUri } from "../uris.ts";
import { hasEnded, waitForWorkflow } from "../waiting.ts";

type Workflow = Row<"get /workflows">;
type Task = Row<"get /workflows/{workflow_id}/tasks">;

const LISTED = 10;
const MOST_STEPS = 40;
const MOST_FILES = 5;
const RESULT_CHARS = 300;

const Summary = strict({
  workflow_id: Type.String(),
  name: Type.String(),
  status: Type.String({ description: "pending, running, paused, recovering, completed, failed or cancelled" }),
  progress: Total,
  created_at: Type.String(),
  completed_at: Text,
  error_message: Text,
});

const File = strict({ uri: Type.String(), role: Type.String(), size: Total, content_type: Text });

const Step = strict({
  name: Type.String(),
  kind: Type.String(),
  status: Type.String(),
  progress: Text,
  result: nullable(Type.String({ description: "output of the step, as JSON" })),
  run_ids: Type.Array(Type.String(), { description: "its runs; crawl_results reads their records" }),
  files: Type.Array(File, { description: "its files; read them as resources" }),
  error: Text,
  advice: Text,
});

export const workflowStatus = defineTool({
  name: "workflow_status",
  title: "Workflow status",
  description:
    "Status of a workflow by step, with its files; can wait for its end. Without workflow_id: the newest workflows, and the templates for workflow_start.",
  input: strict({
    workflow_id: Type.Optional(id("from workflow_start; without it: a list of the newest")),
    wait_seconds: waitSeconds(0, "returns when the workflow has ended, or after this time"),
    cursor: Cursor,
  }),
  output: strict({
    workflow: nullable(Summary),
    steps: Type.Array(Step),
    workflows: Type.Array(Summary),
    templates: Type.Array(
      strict({
        name: Type.String(),
        description: Text,
        params: Type.Array(Type.String(), { description: "required ones first" }),
      }),
    ),
    notes: Type.Array(Type.String()),
    next: NextShape,
  }),
  role: "viewer",
  hints: { reads: true, repeatable: true },
  call: ({ workflow_id: workflowId, wait_seconds: seconds = 0, cursor }, call) =>
    workflowId === undefined ? list(call, cursor) : one(call, workflowId, seconds),
});

function summaryOf(view: Workflow) {
  return {
    workflow_id: view.id,
    name: short(view.name) ?? "",
    status: view.status,
    progress: view.progress,
    created_at: view.created_at,
    completed_at: view.completed_at,
    error_message: short(view.error_message),
  };
}

async function one(call: ToolCall, workflowId: string, seconds: number) {
  await waitForWorkflow(call, workflowId, seconds);
  const view = await call.api.workflows.get(workflowId);
  const { rows: tasks } = await call.api.workflows.tasks(workflowId, { limit: MOST_STEPS + 1 }).page();
  const steps = takeFitting(tasks.slice(0, MOST_STEPS).map(stepOf), NORMAL_CHARS - AROUND);
  return {
    workflow: summaryOf(view),
    steps,
    workflows: [],
    templates: [],
    notes: steps.length < tasks.length ? [`the first ${steps.length} of ${view.total_steps} steps are shown`] : [],
    next: nextOf(view, tasks),
  };
}

function stepOf(task: Task) {
  const ended = hasEnded(task.status) || task.status === "skipped";
  return {
    name: task.task_name,
    kind: task.task_type,
    status: task.status,
    progress: ended ? null : short(task.progress_message, 200),
    result: task.result === null ? null : shortJson(task.result),
    run_ids: task.child_run_ids.slice(0, MOST_FILES),
    files: task.artifacts
      .filter(isForReaders)
      .slice(0, MOST_FILES)
      .map(({ id: file, role, size, content_type: type }) => ({
        uri: artifactUri(file),
        role,
        size,
        content_type: type,
      })),
    error: short(task.error_message),
    advice: task.failure_code === null ? null : adviceFor(task.failure_code, task.failure_reason),
  };
}

/** Item files between steps are not for readers. */
const isForReaders = ({ role }: Task["artifacts"][number]) => role !== "items";

function shortJson(value: unknown): string {
  const text = JSON.stringify(value);
  return costOf(text) <= RESULT_CHARS ? text : `${headOf(text, RESULT_CHARS)} …`;
}

function nextOf({ id: workflowId, status }: Workflow, tasks: readonly Task[]): Next | null {
  if (!hasEnded(status))
    return {
      tool: "workflow_status",
      arguments: { workflow_id: workflowId, wait_seconds: 45 },
      why: "it has not ended",
    };
  const run = tasks.find(({ child_run_ids: runs }) => runs.length > 0)?.child_run_ids[0];
  return run === undefined
    ? null
    : { tool: "crawl_results", arguments: { run_id: run }, why: "to read the records of its first run" };
}

async function list({ api }: ToolCall, cursor: string | undefined) {
  const { rows, next: more } = await api.workflows.list({ limit: LISTED, cursor }).page();
  const templates = cursor === undefined ? await api.templates.list() : [];
  const views = templates.map(({ name, description, params }) => ({
    name,
    description: short(description, 200),
    params: paramsOf(params),
  }));
  const shown = takeFitting(views, NORMAL_CHARS / 2);
  return {
    workflow: null,
    steps: [],
    workflows: rows.map(summaryOf),
    templates: shown,
    notes:
      shown.length < templates.length ? [`the first ${shown.length} of ${templates.length} templates are shown`] : [],
    next: more === null ? null : { tool: "workflow_status", arguments: { cursor: more }, why: "older workflows" },
  };
}

interface ParamsSchema {
  required?: string[];
  properties?: Record<string, ParamsSchema & { type?: string | string[]; description?: string; default?: unknown }>;
}

/** One line each: name, whether it is required, and description. */
function paramsOf(schema: unknown): string[] {
  const { required = [], properties = {} } = (schema ?? {}) as ParamsSchema;
  const names = Object.keys(properties).toSorted((a, b) => Number(required.includes(b)) - Number(required.includes(a)));
  return names.slice(0, 20).map((name) => {
    const { description, properties: inner, required: needed = [] } = properties[name] ?? {};
    const parts =
      inner === undefined
        ? ""
        : ` {${Object.keys(inner)
            .map((part) => (needed.includes(part) ? `${part} (required)` : part))
            .join(", ")}}`;
    return `${name}${required.includes(name) ? " (required)" : ""}${parts}${description === undefined ? "" : `: ${short(description, 160)}`}`;
  });
}
