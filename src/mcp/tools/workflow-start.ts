import { strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { anyObject, NextShape, Total } from "../shapes.ts";
import { defineTool } from "../tool.ts";

export const workflowStart = defineTool({
  name: "workflow_start",
  title: "Start a workflow",
  description:
    "Start a workflow: steps that depend on each other (crawl, download, validate, deduplicate, export to a file …), from a template or your own definition. workflow_status without workflow_id lists the templates and what they need.",
  input: strict({
    template: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: "name of a template; set either this or definition" }),
    ),
    definition: Type.Optional(
      anyObject(
        'your own steps: {"name": "Table", "steps": [{"name": "read", "task_type": "scrape", "params": {"url": "https://…", "fields": {"title": "h1"}}}, {"name": "table", "task_type": "export", "params": {"format": "csv"}, "dependencies": ["read"]}]}',
      ),
    ),
    params: Type.Optional(anyObject("params of the template or definition")),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "of this run" })),
  }),
  output: strict({
    workflow_id: Type.String(),
    name: Type.String(),
    status: Type.String(),
    total_steps: Total,
    next: NextShape,
  }),
  role: "operator",
  hints: { reads: false, open: true },
  call: async (args, { api }) => {
    const workflow = await api.workflows.create(args);
    return {
      workflow_id: workflow.id,
      name: workflow.name,
      status: workflow.status,
      total_steps: workflow.total_steps,
      next: {
        tool: "workflow_status",
        arguments: { workflow_id: workflow.id, wait_seconds: 45 },
        why: "to see the progress of its steps",
      },
    };
  },
});
