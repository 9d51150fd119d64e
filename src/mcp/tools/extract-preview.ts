import { nullable, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Answer } from "../../api-client/client.ts";
import { adviceFor } from "../advice.ts";
import { costOf, fitRecord, short, takeFitting } from "../bounds.ts";
import { sentence } from "../problems.ts";
import { AROUND, Records } from "../records.ts";
import { Fields, Items, MaxChars, NORMAL_CHARS, RecordSchema, Strategy, Text, Total } from "../shapes.ts";
import { defineTool, ToolFailure } from "../tool.ts";

/** While the client waits. */
const SECONDS = 45;
const MOST_PROBLEMS = 10;

type Problem = Answer<"post /extract/preview">["errors"][number];

const ProblemShape = strict({
  record: Total,
  field: Type.String(),
  rule: Type.String(),
  message: Type.String(),
  found: Text,
});

export const extractPreview = defineTool({
  name: "extract_preview",
  title: "Test rules",
  description:
    "Extract one page, or given HTML, with rules; nothing is stored. Use it to correct fields and items before scrape or crawl_start. Shows which rules fail and what they found.",
  input: strict({
    url: Type.Optional(
      Type.String({ minLength: 1, maxLength: 8192, description: "URL of the page; set either this or html" }),
    ),
    html: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2_000_000, description: "HTML of the page, instead of fetching it" }),
    ),
    fields: Fields,
    items: Items,
    schema: RecordSchema,
    strategy: Strategy,
    max_chars: MaxChars,
  }),
  output: strict({
    url: Text,
    http_status: nullable(Type.Integer()),
    strategy: Text,
    title: Text,
    record_count: { ...Total, description: "records found on the page" },
    records: Records,
    errors: Type.Array(ProblemShape, { description: "errors that make the page fail" }),
    warnings: Type.Array(ProblemShape),
    notes: Type.Array(Type.String()),
  }),
  role: "operator",
  hints: { reads: true, open: true },
  call: async ({ max_chars: maxChars = NORMAL_CHARS, ...args }, { api, signal }) => {
    const body = { ...args, timeout_seconds: args.html === undefined ? SECONDS : undefined };
    const preview = await api.extract.preview(body, { signal });
    const { failure_code: code, failure_reason: reason } = preview;
    const problems = (list: readonly Problem[]) =>
      takeFitting(
        list.slice(0, MOST_PROBLEMS).map((problem) => ({
          ...problem,
          message: short(problem.message) ?? "",
          found: short(problem.found, 200),
        })),
        maxChars / 8,
      );
    const [errors, warnings] = [problems(preview.errors), problems(preview.warnings)];
    // A page that fails by the rules is what this tool shows; a page that cannot be fetched is a failure.
    if (code !== null && code !== "extraction")
      throw new ToolFailure(
        `${code} (${reason}): ${sentence(preview.error_message ?? "the page could not be fetched")} ${adviceFor(code, reason) ?? ""}`.trim(),
        { failure_code: code, failure_reason: reason },
      );
    const { records, notes } = firstOf(preview.records, maxChars - AROUND - costOf(errors) - costOf(warnings));
    return {
      url: short(preview.final_url),
      http_status: preview.http_status,
      strategy: preview.strategy,
      title: short(preview.title),
      record_count: preview.records.length,
      records,
      errors,
      warnings,
      notes,
    };
  },
});

/** As many records as fit; the first one is cut if it is too long. */
function firstOf(
  all: readonly Record<string, unknown>[],
  room: number,
): { records: Record<string, unknown>[]; notes: string[] } {
  const records: Record<string, unknown>[] = [];
  const notes: string[] = [];
  let left = Math.max(500, room);
  for (const record of all) {
    const cost = costOf(record) + 24;
    if (cost > left && records.length > 0) break;
    const fitted = fitRecord(record, left);
    records.push(fitted.record);
    for (const { field, shown, total, unit } of fitted.cuts)
      notes.push(
        `${field} is cut: ${shown} of ${total} ${unit} shown; raise max_chars, or scrape the page and continue reading`,
      );
    left -= cost;
  }
  if (records.length < all.length)
    notes.push(`the first ${records.length} of ${all.length} records are shown; raise max_chars for more`);
  if (all.length === 0) notes.push("no record: items matched nothing, or the page has nothing to extract");
  return { records, notes };
}
