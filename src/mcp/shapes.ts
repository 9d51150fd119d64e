/** Building blocks of tool schemas. Agents read them, so every word costs tokens. */
import { nullable, strict } from "../api/schemas.ts";
import { Type } from "../api/type.ts";

/** Default length of an answer; some 5,000 tokens. */
export const NORMAL_CHARS = 20_000;
export const MOST_CHARS = 100_000;
const FEWEST_CHARS = 2000;

export const MaxChars = Type.Optional(
  Type.Integer({
    minimum: FEWEST_CHARS,
    maximum: MOST_CHARS,
    default: NORMAL_CHARS,
    description: "maximum length of the response, which says how to get the rest",
  }),
);

/** Silent connections are closed after two minutes, and many clients give up after one. */
const LONGEST_WAIT_SECONDS = 100;

export function waitSeconds(normally: number, description: string) {
  return Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: LONGEST_WAIT_SECONDS,
      default: normally,
      description: `seconds; ${description}`,
    }),
  );
}

export function id(description: string) {
  return Type.String({ minLength: 1, maxLength: 100, description });
}

export const Cursor = Type.Optional(
  Type.String({ minLength: 1, maxLength: 2000, description: "from an earlier response, to continue there" }),
);

/** Any object: its reader validates it. */
export function anyObject(description: string) {
  return Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }));
}

const FieldName = Type.String({ minLength: 1, maxLength: 128 });

export const Fields = Type.Optional(
  Type.Union([Type.Array(FieldName, { minItems: 1, maxItems: 200 }), anyObject("rules by field name")], {
    description:
      'what to read from the page. Names of well-known fields: ["title", "author", "published_at", "price", "image", "text", "markdown", "links"]. ' +
      'Or rules: {"price": {"css": ".price", "type": "number"}, "link": {"css": "a", "attr": "href"}}; a rule has css, xpath, jsonpath or regex, and may have attr, all, type, required. ' +
      "Without: title, description, author, published_at and the article as markdown",
  }),
);

export const Items = Type.Optional(
  Type.Union([Type.String({ minLength: 1, maxLength: 2000 }), anyObject('such as {"jsonpath": "$.products[*]"}')], {
    description: "CSS selector of what repeats on the page: each match is one record, the rules are read inside it",
  }),
);

export const RecordSchema = Type.Optional(anyObject("JSON Schema that each record must satisfy"));

export const SessionId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: "name or id of a session that the operator stored: pages are fetched signed in",
  }),
);

export const Strategy = Type.Optional(
  Type.Unsafe<"auto" | "http" | "browser">(
    Type.String({
      enum: ["auto", "http", "browser"],
      default: "auto",
      description: "auto uses a browser only when the page needs one",
    }),
  ),
);

/** For answers. */
export const Text = nullable(Type.String());
export const Total = Type.Integer({ minimum: 0 });
export const NextShape = nullable(
  strict(
    { tool: Type.String(), arguments: anyObject("arguments of that call"), why: Type.String() },
    { description: "the next call; null: there is nothing more" },
  ),
);
