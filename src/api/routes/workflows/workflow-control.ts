import type { Static } from "typebox";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import {
  cancelWorkflow,
  changeMetadata,
  deleteWorkflow,
  pauseWorkflow,
  recoverWorkflow,
  resumeWorkflow,
  startWorkflow,
} from "../../../orchestrator/workflows/control.ts";
import { type RerunInput, rerunWorkflow } from "../../../orchestrator/workflows/rerun.ts";
import type { WorkflowView } from "../../../orchestrator/workflows/view.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { RecoverBody, RerunBody, Workflow, WorkflowDetail } from "./workflow-schemas.ts";
import { badWorkflow, unknownWorkflow, WorkflowParams } from "./workflows.ts";

const wrongState = problemAnswer("the current state of the workflow does not allow it; hint says what to do instead");

export function workflowControlRoutes(api: ApiInstance, deps: ApiDeps): void {
  const actions: readonly [string, string, (id: string) => Promise<WorkflowView>][] = [
    ["start", "Start a workflow that was created with start: false", (id) => startWorkflow(deps, id)],
    ["pause", "Pause a workflow: finish running steps and start no new ones", (id) => pauseWorkflow(deps, id)],
    ["resume", "Resume a paused workflow", (id) => resumeWorkflow(deps, id)],
    ["cancel", "Cancel a workflow and its child runs; cannot be undone", (id) => cancelWorkflow(deps, id)],
  ];
  for (const [name, summary, act] of actions) {
    api.post(
      `/workflows/:workflow_id/${name}`,
      {
        config: { role: "operator" },
        schema: {
          summary,
          operationId: `${name}Workflow`,
          tags: ["workflows"],
          params: WorkflowParams,
          response: { 200: Workflow, 404: unknownWorkflow, 409: wrongState },
        },
      },
      (request) => act(request.params.workflow_id),
    );
  }

  api.post(
    "/workflows/:workflow_id/recover",
    {
      config: { role: "operator" },
      schema: {
        summary: "Repeat the steps of a failed workflow that did not complete, or one step and those that depend on it",
        operationId: "recoverWorkflow",
        tags: ["workflows"],
        params: WorkflowParams,
        body: RecoverBody,
        response: {
          200: Workflow,
          404: unknownWorkflow,
          409: problemAnswer("it has not failed, or has used all its recoveries (recovery_exhausted)"),
          422: problemAnswer("there is no such step"),
        },
      },
    },
    (request) => recoverWorkflow(deps, request.params.workflow_id, request.body ?? {}),
  );

  api.post(
    "/workflows/:workflow_id/rerun",
    {
      config: { role: "operator" },
      bodyLimit: limitsOf(deps).workflowBytes,
      schema: {
        summary: "Start a new run of the same workflow, optionally with other params or another definition",
        operationId: "rerunWorkflow",
        tags: ["workflows"],
        params: WorkflowParams,
        headers: IdempotencyHeaders,
        body: RerunBody,
        response: { 201: WorkflowDetail, 404: unknownWorkflow, 422: badWorkflow },
      },
    },
    async (request, reply) => {
      const input = (request.body ?? {}) as RerunInput;
      const workflow = await rerunWorkflow(deps, request.params.workflow_id, input, idempotencyMarkOf(deps, request));
      return reply
        .code(201)
        .header("location", `/workflows/${workflow.id}`)
        .send(workflow as Static<typeof WorkflowDetail>);
    },
  );

  api.patch(
    "/workflows/:workflow_id",
    {
      config: { role: "operator", audit: "workflow.metadata_changed" },
      schema: {
        summary: "Change the metadata of a workflow: sets the given keys; null removes a key",
        operationId: "changeWorkflow",
        tags: ["workflows"],
        params: WorkflowParams,
        body: strict({ metadata: Type.Record(Type.String(), Type.Unknown()) }),
        response: { 200: Workflow, 404: unknownWorkflow },
      },
    },
    (request) => changeMetadata(deps, request.params.workflow_id, request.body.metadata as Record<string, JsonValue>),
  );

  api.delete(
    "/workflows/:workflow_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "Delete a workflow with its steps, its child runs, and all their files",
        operationId: "deleteWorkflow",
        tags: ["workflows"],
        params: WorkflowParams,
        querystring: strict({
          force: Type.Boolean({ default: false, description: "cancel it first if it has not ended" }),
        }),
        response: { 204: Type.Null(), 404: unknownWorkflow, 409: wrongState },
      },
    },
    async (request, reply) => {
      await deleteWorkflow(deps, request.params.workflow_id, { force: request.query.force });
      return reply.code(204).send(null);
    },
  );
}
