import { learnFromExamples, type LearnInput } from "../../../orchestrator/learn.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, problemAnswer, strict } from "../../schemas.ts";
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
      "by field: the value as the page shows it, several for a list, or null where a page has none. As many values for several fields are the first records of a list",
  },
);

const Lesson = strict({
  items: nullable(
    Type.Record(Type.String(), Type.Unknown(), { description: "where the records are; null: each page is one" }),
  ),
  fields: Type.Record(Type.String(), Rule, { description: "the best rule of each field, as a job takes them" }),
  alternatives: Type.Record(
    Type.String(),
    Type.Array(
      strict({
        rule: Rule,
        score: Type.Number({ minimum: 0, maximum: 1, description: "how well it should survive changes of the page" }),
        values: Type.Array(Type.Unknown(), { description: "what it gives on each page, or in each record" }),
      }),
    ),
    { description: "by field, the best one first" },
  ),
  records: Type.Array(Type.Array(Type.Record(Type.String(), Type.Unknown())), {
    description: "what fields and items give, by page; at most 20 each",
  }),
  record_counts: Type.Array(Type.Integer({ minimum: 0 }), { description: "how many records they give, by page" }),
  problems: Type.Array(
    strict({
      field: Type.String(),
      page: nullable(Type.Integer({ minimum: 0, description: "which of pages, counted from 0" })),
      message: Type.String(),
    }),
    { description: "examples that were not found, and fields without a rule that gives all of theirs" },
  ),
  pages: Type.Array(strict({ url: text, final_url: text, http_status: nullable(Type.Integer()), title: text })),
  duration_ms: Type.Integer({ minimum: 0 }),
});

/** Derives extraction rules from example values, and a job that uses them. */
export function learnRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/extract/learn",
    {
      // The body contains pages.
      bodyLimit: limitsOf(deps).workflowBytes,
      schema: {
        summary: "Learn rules from values that stand on pages, and keep nothing",
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
