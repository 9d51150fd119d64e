import type { Static } from "typebox";
import { TASK_STATES } from "../../../domain/run/states.ts";
import { listItems } from "../../../orchestrator/workflows/items.ts";
import {
  findByEngineId,
  listAllWorkflowTasks,
  listEntries,
  listWorkflowTasks,
  showWorkflowTask,
} from "../../../orchestrator/workflows/read.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../../instance.ts";
import { badCursor, cursorFilter, decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { IdParam, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { MOST_STEPS } from "../../../domain/workflow/definition.ts";
import { Entry, WorkflowTask } from "./workflow-schemas.ts";
import { unknownWorkflow, WorkflowParams } from "./workflows.ts";

const TaskParams = strict({
  workflow_id: IdParam,
  task: Type.String({ minLength: 1, maxLength: 200, description: "id of the task, or name of the step" }),
});
const unknownTask = problemAnswer("there is no such workflow, or it has no such task");
const byStatus = { status: Type.Optional(oneOf(TASK_STATES)) };
const stepsByStatus = {
  status: Type.Optional(
    oneOf([...TASK_STATES, "retryable"], {
      description: "retryable: a retry is scheduled, or a retry may fix the failure",
    }),
  ),
};

/** Steps of workflows and their outputs. */
export function workflowTaskRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/workflows/:workflow_id/tasks",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The steps of a workflow, in order",
        operationId: "listWorkflowTasks",
        tags: ["workflows"],
        params: WorkflowParams,
        // All steps by default: a partial graph is useless.
        querystring: pageQuery(stepsByStatus, { most: MOST_STEPS, normally: MOST_STEPS }),
        response: { 200: { ...Type.Array(WorkflowTask), headers: LINK_HEADER }, 404: unknownWorkflow },
      },
    },
    async (request, reply) => {
      const { limit, status } = request.query;
      const after = offsetOf(request.query.cursor);
      const rows = await listWorkflowTasks(deps, request.params.workflow_id, {
        ...(status === undefined ? {} : { status }),
        ...(after === undefined ? {} : { after }),
        limit: limit + 1,
      });
      const shown = rows as Static<typeof WorkflowTask>[];
      return sendPage(request, reply, { rows: shown, limit, positionOf: (row) => String(row.step_index) });
    },
  );

  api.get(
    "/workflows/tasks",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Steps of all workflows, newest workflow first; ?status=retryable: those that a retry may fix",
        operationId: "listAllWorkflowTasks",
        tags: ["workflows"],
        querystring: pageQuery(stepsByStatus),
        response: { 200: { ...Type.Array(WorkflowTask), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, status, cursor } = request.query;
      const after = stepIn(cursor);
      const rows = await listAllWorkflowTasks(deps, {
        ...(status === undefined ? {} : { status }),
        ...(after === undefined ? {} : { after }),
        limit: limit + 1,
      });
      const shown = rows as Static<typeof WorkflowTask>[];
      return sendPage(request, reply, {
        rows: shown,
        limit,
        positionOf: ({ workflow_id: id, step_index: index }) => `${id}/${index}`,
      });
    },
  );

  api.get(
    "/workflows/:workflow_id/tasks/:task",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One step of a workflow",
        operationId: "getWorkflowTask",
        tags: ["workflows"],
        params: TaskParams,
        response: { 200: WorkflowTask, 404: unknownTask },
      },
    },
    async (request) => {
      const { workflow_id: id, task } = request.params;
      return (await showWorkflowTask(deps, id, task)) as Static<typeof WorkflowTask>;
    },
  );

  api.get(
    "/workflows/tasks/by-engine-id/:engine_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The step with this engine task id (BullMQ job id), current or last used",
        operationId: "getTaskByEngineId",
        tags: ["workflows"],
        params: strict({ engine_id: Type.String({ minLength: 1, maxLength: 300 }) }),
        response: { 200: WorkflowTask, 404: problemAnswer("no step has had this engine task id") },
      },
    },
    async (request) => (await findByEngineId(deps, request.params.engine_id)) as Static<typeof WorkflowTask>,
  );

  api.get(
    "/workflows/:workflow_id/tasks/:task/entries",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The entries of a step with for_each, in the order of its list",
        operationId: "listEntries",
        tags: ["workflows"],
        params: TaskParams,
        querystring: pageQuery(byStatus),
        response: { 200: { ...Type.Array(Entry), headers: LINK_HEADER }, 404: unknownTask },
      },
    },
    async (request, reply) => {
      const { workflow_id: id, task } = request.params;
      const { limit, status } = request.query;
      const rows = await listEntries(deps, id, task, {
        ...(status === undefined ? {} : { status }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: (row) => row.id });
    },
  );

  api.get(
    "/workflows/:workflow_id/tasks/:task/items",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The items that a completed step produced",
        operationId: "listItems",
        tags: ["workflows"],
        params: TaskParams,
        querystring: pageQuery({}),
        response: {
          200: { ...Type.Array(Type.Record(Type.String(), Type.Unknown())), headers: LINK_HEADER },
          404: unknownTask,
        },
      },
    },
    (request, reply) => sendItems(deps, request, reply, request.params, request.query),
  );
}

/** Items have no ids: their index is their position. */
async function sendItems(
  deps: ApiDeps,
  request: ApiRequest,
  reply: ApiReply,
  { workflow_id: id, task }: Static<typeof TaskParams>,
  { limit, cursor }: { limit: number; cursor?: string },
) {
  const skip = offsetOf(cursor) ?? 0;
  const items = await listItems(deps, id, task, { skip, limit: limit + 1 });
  const rows = items.map((item, index) => ({ item, position: String(skip + index + 1) }));
  const page = sendPage(request, reply, { rows, limit, positionOf: ({ position }) => position });
  return page.map(({ item }) => item);
}

/** A step's position: the workflow's id and the step's index. */
function stepIn(cursor: string | undefined): { workflowId: string; index: number } | undefined {
  const text = decodeCursor(cursor);
  if (text === undefined) return undefined;
  const [, workflowId, index] = /^([0-9a-f-]{36})\/(\d{1,6})$/.exec(text) ?? [];
  if (workflowId === undefined) throw badCursor();
  return { workflowId, index: Number(index) };
}

/** For lists whose positions are numbers. */
function offsetOf(cursor: string | undefined): number | undefined {
  const text = decodeCursor(cursor);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badCursor();
  return Number(text);
}
