import { learnFromExamples, type LearnInput } from "../../../orchestrator/learn.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { fetchOptions, pageSource, untilCallerLeaves } from "./page-source.ts";
import { Type } from "../../type.ts";

const text = nullable(Type.String());
const Rule = Type.Record(Type.String(), Type.Unknown());

const Value = Type.Union([Type.String({ minLength: 1, maxLength: 10_000 }), Type.Number()]);

const Examples = Type.Record(
  Type.String({ minLength: 1, maxLength: 100 }),
  nullable(Type.Union([Value, Type.Array(Value, { maxItems: 100 })])),
  {
    description:
      "by field: the value as the page shows it, several for a list, or null if a page has none. If several fields have the same number of values, they are read as the first records of a list",
  },
);

const Lesson = strict({
  items: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "selector of the records; null: each page is one record",
    }),
  ),
  fields: Type.Record(Type.String(), Rule, { description: "the best rule for each field, in the format of a job" }),
  alternatives: Type.Record(
    Type.String(),
    Type.Array(
      strict({
        rule: Rule,
        score: Type.Number({ minimum: 0, maximum: 1, description: "expected stability when the page changes" }),
        values: Type.Array(Type.Unknown(), { description: "its value on each page, or in each record" }),
      }),
    ),
    { description: "by field, the best one first" },
  ),
  records: Type.Array(Type.Array(Type.Record(Type.String(), Type.Unknown())), {
    description: "extracted records by page, at most 20 each",
  }),
  record_counts: Type.Array(Type.Integer({ minimum: 0 }), { description: "number of extracted records, by page" }),
  problems: Type.Array(
    strict({
      field: Type.String(),
      page: nullable(Type.Integer({ minimum: 0, description: "index in pages, from 0" })),
      message: Type.String(),
    }),
    { description: "examples that were not found, and fields without a rule that finds all their examples" },
  ),
  pages: Type.Array(strict({ url: text, final_url: text, http_status: nullable(Type.Integer()), title: text })),
  duration_ms: Type.Integer({ minimum: 0 }),
});

/** Derives extraction rules from example values, and a job that uses them. */
export function learnRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/extract/learn",
    {
      config: { role: "operator" },
      // The body contains pages.
      bodyLimit: limitsOf(deps).workflowBytes,
      schema: {
        summary: "Learn rules from example values on pages; nothing is stored",
        operationId: "learnRules",
        tags: ["extract"],
        body: strict({
          pages: Type.Array(
            strict({
              ...pageSource,
              examples: Type.Optional(Examples),
            }),
            { minItems: 1, maxItems: 5, description: "pages of one kind, such as products of a shop" },
          ),
          examples: Type.Optional(Examples),
          records: Type.Optional(
            oneOf(["one", "list"], {
              description:
                "whether each page is one record, or a list of them: then each field has the values of its first records. Absent: several fields with the same number of values are a list",
            }),
          ),
          ...fetchOptions,
        }),
        response: {
          200: Lesson,
          409: problemAnswer("the site is paused or rate limited"),
          422: problemAnswer("there are no examples, or a page could not be fetched"),
        },
      },
    },
    async (request, reply) => {
      return learnFromExamples(deps, request.body as LearnInput, untilCallerLeaves(reply));
    },
  );
}
