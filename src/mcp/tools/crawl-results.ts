import { oneOf, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import { decodeCursor, encodeCursor, type RecordPosition } from "../cursor.ts";
import { failureView } from "../failures.ts";
import {
  Cuts,
  leftOutNote,
  readRecords,
  readRest,
  type Reading,
  Records,
  recordsOf,
  type RecordsRead,
  Rest,
  shownPage,
} from "../records.ts";
import { Cursor, id, MaxChars, NextShape, NORMAL_CHARS } from "../shapes.ts";
import { defineTool, type Next } from "../tool.ts";
import { hasEnded } from "../waiting.ts";

export const crawlResults = defineTool({
  name: "crawl_results",
  title: "Read results",
  description:
    "The records of a run, oldest first, as many as fit into max_chars; next in the response is the call for the following ones. Also works while the run is active. Select few fields with only to see many pages at once.",
  input: strict({
    run_id: id("from scrape, crawl_start, or a step of a workflow"),
    what: Type.Optional(
      oneOf(["records", "failures"], {
        description: "failures: pages that could not be fetched, and why (default: records)",
      }),
    ),
    only: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        minItems: 1,
        maxItems: 100,
        description: 'only these fields of each record, such as ["url", "title"]; articles also have text and links',
      }),
    ),
    cursor: Cursor,
    max_chars: MaxChars,
  }),
  output: strict({
    run_id: Type.String(),
    status: Type.String(),
    records: Records,
    rest: Rest,
    cut: Cuts,
    notes: Type.Array(Type.String()),
    next: NextShape,
  }),
  role: "viewer",
  hints: { reads: true, repeatable: true },
  call: async ({ run_id: runId, what = "records", only, cursor, max_chars: maxChars = NORMAL_CHARS }, { api }) => {
    const position = decodeCursor(cursor);
    // Read the run first: whether more records will come must be known before they are read.
    const run = await api.runs.get(runId);
    const reading: Reading =
      what === "records"
        ? recordsOf(api, run.id, { only, maxChars })
        : {
            page: (query) => shownPage(api.runs.tasks(run.id, { ...query, status: "failed" }), failureView),
            again: { run_id: run.id, what },
            maxChars,
          };
    const shared = { run_id: run.id, status: run.status };
    if (position.within !== undefined) {
      const { rest, next } = await readRest(reading, position, position.within);
      return { ...shared, records: [], rest, cut: [], notes: [], next };
    }
    const read = await readRecords(reading, position);
    return {
      ...shared,
      records: read.records,
      rest: null,
      cut: read.cut,
      notes: [...notesOn(read, run.status, what, only), ...leftOutNote(read.leftOut)],
      next: nextOf(read, run.status, reading.again),
    };
  },
});

export function nextRecords(again: Record<string, unknown>, position: RecordPosition, why: string): Next {
  return { tool: "crawl_results", arguments: { ...again, cursor: encodeCursor(position) }, why };
}

function nextOf({ atEnd, position }: RecordsRead, status: string, again: Record<string, unknown>): Next | null {
  if (!atEnd) return nextRecords(again, position, "the following records");
  return hasEnded(status) ? null : nextRecords(again, position, `the run is ${status}: call later for new records`);
}

function notesOn(
  { records, atEnd }: RecordsRead,
  status: string,
  what: string,
  only: readonly string[] | undefined,
): string[] {
  if (records.length === 0) return atEnd ? [hasEnded(status) ? `no more ${what}` : `no more ${what} yet`] : [];
  const isBlank = records.every((record) => Object.keys(record).length === 0);
  return isBlank && only !== undefined
    ? [`none of these records has ${only.join(", ")}: omit only to see all fields`]
    : [];
}
