import { type PreviewInput, previewExtraction } from "../../orchestrator/preview.ts";
import { type ApiDeps, limitsOf } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import { nullable, oneOf, problemAnswer, strict } from "../schemas.ts";
import { Extract, Fields, Items, RecordSchema } from "./reading-schemas.ts";
import { Type } from "../type.ts";

const text = nullable(Type.String());

const Problem = strict({
  record: Type.Integer({ minimum: 0 }),
  field: Type.String(),
  rule: Type.String(),
  message: Type.String(),
  found: text,
});

const Preview = strict({
  url: text,
  final_url: text,
  http_status: nullable(Type.Integer()),
  strategy: text,
  strategy_evidence: nullable(Type.Record(Type.String(), Type.Unknown())),
  title: text,
  records: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  failure_code: text,
  failure_reason: text,
  error_message: text,
  errors: Type.Array(Problem, { description: "required fields and schemas that fail, with what was found instead" }),
  warnings: Type.Array(Problem),
  extract: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "what it took to have the page read by more than rules",
    }),
  ),
  html: nullable(Type.String({ description: "the page as it was read, where it was asked for and got" })),
  content_type: text,
  duration_ms: Type.Integer({ minimum: 0 }),
});

/** Trying rules out, on a live page or on given HTML, without a job. */
export function previewRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/extract/preview",
    {
      // Pages are sent along.
      bodyLimit: limitsOf(deps).workflowBytes,
      schema: {
        summary: "Read a page by these rules and keep nothing",
        operationId: "previewExtraction",
        tags: ["extract"],
        body: strict({
          url: Type.Optional(Type.String({ minLength: 1, maxLength: 8192 })),
          html: Type.Optional(Type.String({ description: "the page itself, instead of fetching it" })),
          content_type: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: "of what is sent as html; text/html unless said",
            }),
          ),
          include_html: Type.Optional(Type.Boolean({ description: "the answer brings the page along" })),
          fields: Type.Optional(Fields),
          items: Type.Optional(Items),
          schema: Type.Optional(RecordSchema),
          extract: Type.Optional(Extract),
          strategy: Type.Optional(oneOf(["auto", "http", "browser"])),
          timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 120 })),
        }),
        response: {
          200: Preview,
          409: problemAnswer("the site is paused, or asked to be left alone"),
          422: problemAnswer("a rule is wrong, or the address may not be asked for"),
        },
      },
    },
    async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return previewExtraction(deps, request.body as PreviewInput, gone.signal);
    },
  );
}
