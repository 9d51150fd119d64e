import type { Static } from "typebox";
import { createWorkflow, type WorkflowInput } from "../../../orchestrator/workflows/create.ts";
import { showProgress } from "../../../orchestrator/workflows/progress.ts";
import { listWorkflows, showWorkflow, showWorkflowOfJob, STATUS_GROUPS } from "../../../orchestrator/workflows/read.ts";
import { type PathOf, pathsBelow } from "../../../orchestrator/workflows/source.ts";
import { validateWorkflow } from "../../../orchestrator/workflows/validate.ts";
import { WORKFLOW_STATUSES } from "../../../orchestrator/workflows/view.ts";
import { YAML_TYPE } from "../../body.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { ShortIdParam, oneOf, problemAnswer, strict, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { Progress, ValidateBody, Validation, Workflow, WorkflowBody, WorkflowDetail } from "./workflow-schemas.ts";

export const WorkflowParams = strict({ workflow_id: ShortIdParam });
export const unknownWorkflow = problemAnswer("there is no such workflow");
export const badWorkflow = problemAnswer("the definition, the template or the params are invalid");

/** Bodies that may also be YAML. */
export const IN_YAML = { config: { yaml: true }, consumes: ["application/json", YAML_TYPE] };

const filters = {
  status: Type.Optional(
    oneOf([...STATUS_GROUPS, ...WORKFLOW_STATUSES], {
      description: "a state; active: running or recovering; recoverable: failed, with recoveries left",
    }),
  ),
  job_id: Type.Optional(Uuid),
  template: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "part of the name, or the id" })),
};

/** The body, and the paths of its parts: a definition may be the whole body. */
export function readBody<T extends object>(body: object): { input: T; pathOf: PathOf } {
  if (!("steps" in body)) return { input: body as T, pathOf: pathsBelow("") };
  const pathOf: PathOf = (part, inner) => (part === "definition" ? inner : pathsBelow("")(part, inner));
  return { input: { definition: body } as T, pathOf };
}

export function workflowRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { workflowBytes: bodyLimit } = limitsOf(deps);
  api.post(
    "/workflows",
    {
      config: { ...IN_YAML.config, role: "operator" },
      bodyLimit,
      schema: {
        summary: "Create a workflow from a definition or a template, and start it",
        operationId: "createWorkflow",
        tags: ["workflows"],
        consumes: IN_YAML.consumes,
        headers: IdempotencyHeaders,
        body: WorkflowBody,
        response: { 201: WorkflowDetail, 422: badWorkflow },
      },
    },
    async (request, reply) => {
      const { input, pathOf } = readBody<WorkflowInput>(request.body);
      const workflow = await createWorkflow(deps, input, idempotencyMarkOf(deps, request), pathOf);
      return reply
        .code(201)
        .header("location", `/workflows/${workflow.id}`)
        .send(workflow as Static<typeof WorkflowDetail>);
    },
  );

  api.post(
    "/workflows/validate",
    {
      config: { ...IN_YAML.config, role: "viewer" },
      bodyLimit,
      schema: {
        summary: "Validate a definition, a template or params, and list all errors; nothing is created",
        operationId: "validateWorkflow",
        tags: ["workflows"],
        consumes: IN_YAML.consumes,
        body: ValidateBody,
        response: { 200: Validation },
      },
    },
    async (request) => {
      const { input, pathOf } = readBody<WorkflowInput>(request.body);
      const validation = await validateWorkflow(deps, input, pathOf);
      const isYaml = request.headers["content-type"]?.startsWith(YAML_TYPE) === true;
      return isYaml ? { ...validation, source: { ...input } } : validation;
    },
  );

  api.get(
    "/workflows",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "Workflows, newest first",
        operationId: "listWorkflows",
        tags: ["workflows"],
        querystring: pageQuery(filters),
        response: { 200: { ...Type.Array(Workflow), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, status, job_id: jobId, template, q } = request.query;
      const rows = await listWorkflows(deps, {
        ...(status === undefined ? {} : { status }),
        ...(jobId === undefined ? {} : { jobId }),
        ...(template === undefined ? {} : { template }),
        ...(q === undefined ? {} : { q }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/workflows/:workflow_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One workflow, with its definition and its params",
        operationId: "getWorkflow",
        tags: ["workflows"],
        params: WorkflowParams,
        response: { 200: WorkflowDetail, 404: unknownWorkflow },
      },
    },
    async (request) => (await showWorkflow(deps, request.params.workflow_id)) as Static<typeof WorkflowDetail>,
  );

  api.get(
    "/workflows/:workflow_id/progress",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The progress of a workflow by step, and its remaining time",
        operationId: "getWorkflowProgress",
        tags: ["workflows"],
        params: WorkflowParams,
        response: { 200: Progress, 404: unknownWorkflow },
      },
    },
    async (request) => (await showProgress(deps, request.params.workflow_id)) as Static<typeof Progress>,
  );

  api.get(
    "/jobs/:job_id/workflow",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The newest workflow of a job",
        operationId: "getJobWorkflow",
        tags: ["workflows"],
        params: strict({ job_id: ShortIdParam }),
        response: {
          200: WorkflowDetail,
          404: problemAnswer("there is no such job, or it has not started a workflow yet"),
        },
      },
    },
    async (request) => (await showWorkflowOfJob(deps, request.params.job_id)) as Static<typeof WorkflowDetail>,
  );
}
