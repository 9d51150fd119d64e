/** Extraction options, shared by jobs and crawls. */
import { nullable } from "../../schemas.ts";
import { Type } from "../../type.ts";

export const Fields = Type.Union(
  [
    Type.Array(Type.String({ maxLength: 128 }), { maxItems: 200 }),
    Type.Record(Type.String(), Type.Unknown()),
    Type.Null(),
  ],
  {
    description:
      "names of well-known fields (title, price, markdown …), or rules by field name; docs/extraction.md has both. Without: title, description, author, published_at and markdown",
  },
);
export const Items = nullable(
  Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
    description: "selector of the records, such as {css: article.product}; the rules are applied once per match",
  }),
);
export const Extract = nullable(
  Type.Record(Type.String(), Type.Unknown(), {
    description:
      "extractor to use in addition to the rules: {llm: {schema, prompt}} for the model at APP_LLM_URL (docs/llm.md), {name, params} for an extractor of the module in APP_HANDLERS (docs/extractors.md)",
  }),
);
export const RecordSchema = nullable(
  Type.Union([Type.Boolean(), Type.Record(Type.String(), Type.Unknown())], {
    description: "JSON Schema 2020-12 that each record must satisfy",
  }),
);
