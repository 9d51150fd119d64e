import { nullable, oneOf, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { costOf, fitRecord, short } from "../bounds.ts";
import { Records } from "../records.ts";
import { anyObject, MaxChars, NORMAL_CHARS, Strategy, Total } from "../shapes.ts";
import { defineTool } from "../tool.ts";

/** Per page, while the client waits. */
const SECONDS = 20;
const MOST_ALTERNATIVES = 2;

export const extractLearn = defineTool({
  name: "extract_learn",
  title: "Learn rules from examples",
  description:
    "Find rules for fields from example values on one to five pages of one kind; nothing is stored. Pass fields and items of the response unchanged to scrape, crawl_start or extract_preview.",
  input: strict({
    urls: Type.Array(Type.String({ minLength: 1, maxLength: 8192 }), {
      minItems: 1,
      maxItems: 5,
      description: "pages of one kind, such as products of a shop",
    }),
    examples: anyObject(
      'values as the pages show them, by field: {"name": "Blue lamp", "price": "€ 12.90"}. Several values of one page are a list; several fields with the same number of values are the first records of a list: {"name": ["Lamp", "Chair"], "price": ["€ 12", "€ 90"]}',
    ),
    records: Type.Optional(
      oneOf(["one", "list"], { description: "what each page has; by default the number of values decides" }),
    ),
    strategy: Strategy,
    max_chars: MaxChars,
  }),
  output: strict({
    items: nullable(anyObject("selector of the records; null: each page is one record")),
    fields: anyObject("the best rule for each field"),
    alternatives: anyObject("other rules, by field"),
    record_count: { ...Total, description: "records that the rules extract from these pages" },
    records: Records,
    problems: Type.Array(Type.String(), { description: "examples that were not found, and fields without a rule" }),
  }),
  role: "operator",
  hints: { reads: true, open: true },
  call: async ({ max_chars: maxChars = NORMAL_CHARS, urls, examples, records: wanted, strategy }, { api, signal }) => {
    const body = {
      pages: urls.map((url) => ({ url })),
      examples: examples as Parameters<typeof api.extract.learn>[0]["examples"],
      ...(wanted === undefined ? {} : { records: wanted }),
      ...(strategy === undefined ? {} : { strategy }),
      timeout_seconds: SECONDS,
    };
    const lesson = await api.extract.learn(body, { signal });
    const all = lesson.records.flat();
    const records: Record<string, unknown>[] = [];
    let left = maxChars / 2;
    for (const record of all) {
      if (costOf(record) > left && records.length > 0) break;
      records.push(fitRecord(record, Math.max(500, left)).record);
      left -= costOf(record);
    }
    return {
      items: lesson.items,
      fields: lesson.fields,
      alternatives: Object.fromEntries(
        Object.entries(lesson.alternatives).map(([field, rules]) => [
          field,
          rules.slice(1, 1 + MOST_ALTERNATIVES).map(({ rule, score }) => ({ rule, score })),
        ]),
      ),
      record_count: lesson.record_counts.reduce((sum, count) => sum + count, 0),
      records,
      problems: lesson.problems.map(({ field, page, message }) => {
        const where = page === null ? "" : `${short(urls[page] ?? null)}: `;
        return `${field}: ${where}${message}`;
      }),
    };
  },
});
