import { type PreviewInput, previewExtraction } from "../../../orchestrator/preview.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, problemAnswer, strict } from "../../schemas.ts";
import { Headers } from "./header-schemas.ts";
import { Cookies } from "../jobs/job-schemas.ts";
import { BrowserBody } from "./page-option-schemas.ts";
import { Extract, Fields, Items, RecordSchema } from "../system/reading-schemas.ts";
import { fetchOptions, pageSource, untilCallerLeaves } from "./page-source.ts";
import { Type } from "../../type.ts";

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
  errors: Type.Array(Problem, { description: "required fields and schemas that fail, with the values found instead" }),
  warnings: Type.Array(Problem),
  extract: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "usage of the extractor, such as model calls and tokens",
    }),
  ),
  html: nullable(Type.String({ description: "the page as it was read, if requested and fetched" })),
  content_type: text,
  document_type: nullable(Type.String({ description: "of a document, such as pdf or docx" })),
  duration_ms: Type.Integer({ minimum: 0 }),
});

/** Tests extraction rules on a live page or on supplied HTML, without a job. */
export function previewRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/extract/preview",
    {
      config: { role: "operator" },
      // The body contains a page or a file.
      bodyLimit: 4 * limitsOf(deps).workflowBytes,
      schema: {
        summary: "Extract a page with these rules; nothing is stored",
        operationId: "previewExtraction",
        tags: ["extract"],
        body: strict({
          ...pageSource,
          file: Type.Optional(
            Type.String({ minLength: 1, description: "a document in Base64, such as a PDF, instead of fetching it" }),
          ),
          file_name: Type.Optional(
            Type.String({ minLength: 1, maxLength: 500, description: "name of file, such as prices.csv" }),
          ),
          include_html: Type.Optional(Type.Boolean({ description: "include the page in the response" })),
          fields: Type.Optional(Fields),
          items: Type.Optional(Items),
          schema: Type.Optional(RecordSchema),
          extract: Type.Optional(Extract),
          ...fetchOptions,
          browser: Type.Optional(BrowserBody),
          headers: Type.Optional(Headers),
          cookies: Type.Optional(Cookies),
        }),
        response: {
          200: Preview,
          409: problemAnswer("the site is paused or rate limited"),
          422: problemAnswer("a rule is invalid, or the URL is not allowed"),
        },
      },
    },
    async (request, reply) => {
      return previewExtraction(deps, request.body as PreviewInput, untilCallerLeaves(reply));
    },
  );
}
