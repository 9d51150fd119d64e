import type { Static } from "typebox";
import { listStepKinds } from "../../../orchestrator/workflows/kinds.ts";
import {
  deleteTemplate,
  listTemplates,
  listTemplateVersions,
  putTemplate,
  showTemplate,
  TEMPLATE_NAME,
} from "../../../orchestrator/workflows/templates.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { expectedVersion, VersionHeaders } from "../../versions.ts";
import { StepKindSchema, Template, TemplateBody } from "./workflow-schemas.ts";
import { badWorkflow, IN_YAML, readBody } from "./workflows.ts";

const Params = strict({ name: Type.String({ minLength: 1, maxLength: 100, description: "of the template" }) });
const NewParams = strict({
  name: Type.String({ ...TEMPLATE_NAME, description: "letters, digits, and . _ - between them" }),
});
const unknownTemplate = problemAnswer("there is no such template, or no such version of it");

/** Templates and step kinds. */
export function workflowTemplateRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { workflowBytes: bodyLimit } = limitsOf(deps);
  api.get(
    "/workflows/templates",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The newest version of every template, by name",
        operationId: "listTemplates",
        tags: ["workflows"],
        response: { 200: Type.Array(Template) },
      },
    },
    () => listTemplates(deps),
  );

  api.get(
    "/workflows/templates/:name",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One template",
        operationId: "getTemplate",
        tags: ["workflows"],
        params: Params,
        querystring: strict({
          version: Type.Optional(Type.Integer({ minimum: 1, description: "default: the newest" })),
        }),
        response: { 200: Template, 404: unknownTemplate },
      },
    },
    (request) => showTemplate(deps, request.params.name, request.query.version),
  );

  api.put(
    "/workflows/templates/:name",
    {
      config: { ...IN_YAML.config, role: "operator" },
      bodyLimit,
      schema: {
        summary: "Save a template; each change creates a new version, and runs keep the version they started with",
        operationId: "putTemplate",
        tags: ["workflows"],
        consumes: IN_YAML.consumes,
        params: NewParams,
        headers: VersionHeaders,
        body: TemplateBody,
        response: {
          200: Template,
          409: problemAnswer("another version was saved since the one in If-Match"),
          422: badWorkflow,
        },
      },
    },
    (request) => {
      const { input, pathOf } = readBody<{ definition: unknown; version?: number }>(
        request.body as Static<typeof TemplateBody>,
      );
      const version = expectedVersion(request, input.version === undefined ? undefined : String(input.version));
      return putTemplate(
        deps,
        request.params.name,
        input.definition,
        (inner) => pathOf("definition", inner),
        version === undefined ? undefined : Number(version),
      );
    },
  );

  api.delete(
    "/workflows/templates/:name",
    {
      config: { role: "operator" },
      schema: {
        summary: "Delete all saved versions of a template; a built-in template returns to its original version",
        operationId: "deleteTemplate",
        tags: ["workflows"],
        params: Params,
        response: {
          204: Type.Null(),
          404: problemAnswer("no version was saved under this name"),
          409: problemAnswer("a job keeps secrets for it"),
        },
      },
    },
    async (request, reply) => {
      await deleteTemplate(deps, request.params.name);
      return reply.code(204).send(null);
    },
  );

  api.get(
    "/workflows/templates/:name/versions",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Every version of a template, newest first",
        operationId: "listTemplateVersions",
        tags: ["workflows"],
        params: Params,
        response: { 200: Type.Array(Template), 404: unknownTemplate },
      },
    },
    (request) => listTemplateVersions(deps, request.params.name),
  );

  api.get(
    "/workflows/step-kinds",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "The step kinds, with the schema of their params",
        operationId: "listStepKinds",
        tags: ["workflows"],
        response: { 200: Type.Array(StepKindSchema) },
      },
    },
    () => listStepKinds(deps),
  );
}
