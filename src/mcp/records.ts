/** The records of a run that fit into one answer, and how to get the others. */
import { nullable, oneOf, strict } from "../api/schemas.ts";
import { Type } from "../api/type.ts";
import type { Listing, OrbweaverClient, Page, Row } from "../api-client/client.ts";
import { type Cut, costOf, fitRecord, partOf } from "./bounds.ts";
import { badCursor, encodeCursor, type RecordPosition } from "./cursor.ts";
import { anyObject, NextShape, Total } from "./shapes.ts";
import type { Next } from "./tool.ts";

/** Rows per API call. */
const PAGE = 25;
/** More records are useless to a reader, however short. */
const MOST_RECORDS = 500;
/** Reserved for the rest of the answer: ids, counts, the next call. */
export const AROUND = 1200;
/** Reserved for the heading of a record. */
const HEADING = 24;

/** The list to read, and how to request the rest. */
export interface Reading {
  /** A page of the list from this API cursor on. */
  page(query: { limit: number; cursor: string | undefined }): Promise<Pick<Page<Shown>, "rows" | "next">>;
  /** Arguments of `crawl_results` that return this list. */
  again: Record<string, unknown>;
  maxChars: number;
}

export type Shown = Record<string, unknown>;

export async function shownPage<Row>(listing: Listing<Row>, show: (row: Row) => Shown): ReturnType<Reading["page"]> {
  const { rows, next } = await listing.page();
  return { rows: rows.map(show), next };
}

export const Cuts = Type.Array(
  strict({
    record: { ...Total, description: "counted from 1 in this response" },
    field: Type.String(),
    shown: Total,
    total: Total,
    unit: oneOf(["characters", "entries"]),
    rest: NextShape,
  }),
  { description: "values that were too long for this response" },
);

export const Rest = nullable(
  strict(
    {
      field: Type.String(),
      from: Total,
      to: Total,
      total: Total,
      unit: oneOf(["characters", "entries"]),
      value: Type.Union([Type.String(), Type.Array(Type.Unknown())]),
    },
    { description: "a part of a long value, if the cursor pointed into one" },
  ),
);

export const Records = Type.Array(anyObject("a record"));

export interface RecordsRead {
  records: Record<string, unknown>[];
  cut: ({ record: number; rest: Next } & Cut)[];
  /** Fields of the only record that did not fit. */
  leftOut: string[];
  /** After the last shown record. */
  position: RecordPosition;
  /** There were no more records when this was read. */
  atEnd: boolean;
}

export async function readRecords(reading: Reading, from: RecordPosition): Promise<RecordsRead> {
  let { page, index } = from;
  let room = reading.maxChars - AROUND;
  const read: RecordsRead = { records: [], cut: [], leftOut: [], position: from, atEnd: false };
  for (;;) {
    const { rows, next } = await pageOf(reading, page);
    for (; index < rows.length; index += 1) {
      const record = rows[index] as Shown;
      const cost = costOf(record) + HEADING;
      if (cost > room && read.records.length > 0) return read;
      const fitted = fitRecord(record, room - HEADING);
      read.records.push(fitted.record);
      read.leftOut = fitted.leftOut;
      const here: RecordPosition = { page, index };
      read.cut.push(
        ...fitted.cuts.map((cut) => ({ record: read.records.length, ...cut, rest: restOf(reading, here, cut) })),
      );
      read.position = { page, index: index + 1 };
      room -= cost;
      if (room <= 0 || read.records.length >= MOST_RECORDS)
        return { ...read, atEnd: next === null && index + 1 === rows.length };
    }
    if (next === null) return { ...read, atEnd: true };
    page = next;
    index = 0;
    read.position = { page, index };
  }
}

/** A part of one long value, from where an earlier answer stopped. */
export async function readRest(reading: Reading, from: RecordPosition, within: { field: string; offset: number }) {
  const { rows } = await pageOf(reading, from.page);
  const row = rows[from.index];
  const value = row?.[within.field];
  if (value === undefined) throw badCursor();
  const { part, end, total, unit } = partOf(value, within.offset, reading.maxChars - AROUND);
  const rest = { field: within.field, from: within.offset, to: end, total, unit, value: part as string | unknown[] };
  const cut: Cut = { field: within.field, shown: end, total, unit };
  return { rest, next: end < total && end > within.offset ? restOf(reading, from, cut) : null };
}

function restOf({ again }: Reading, position: RecordPosition, { field, shown, total, unit }: Cut): Next {
  const cursor = encodeCursor({ ...position, within: { field, offset: shown } });
  return { tool: "crawl_results", arguments: { ...again, cursor }, why: `${total - shown} more ${unit} of ${field}` };
}

function pageOf({ page }: Reading, cursor: string) {
  return page({ limit: PAGE, cursor: cursor === "" ? undefined : cursor });
}

/** The records of a run of any kind. */
export function recordsOf(
  api: OrbweaverClient,
  runId: string,
  { only, of, maxChars }: { only?: readonly string[] | undefined; of?: string | null; maxChars: number },
): Reading {
  return {
    page: (query) => shownPage(api.runs.results(runId, query), (row) => withoutPage(shownOf(row, only), of)),
    again: { run_id: runId, ...(only === undefined ? {} : { only: [...only] }) },
    maxChars,
  };
}

/** If all records are of one page, its URL is shown once. */
function withoutPage(record: Shown, page: string | null | undefined): Shown {
  if (page === undefined) return record;
  return without(record, new Set(record["url"] === page ? ["url", "depth"] : ["depth"]));
}

function shownOf({ url, data }: Row<"get /jobs/runs/{run_id}/results">, only: readonly string[] | undefined): Shown {
  const whole = { url, ...flat(data) };
  if (only === undefined) return isArticle(data) ? without(whole, SAID_BY_MARKDOWN) : whole;
  return Object.fromEntries(Object.entries(whole).filter(([name]) => only.includes(name)));
}

/** Moves the results of rules to the top level, where a reader looks for them. */
function flat({ fields, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const isNested = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  return isNested ? { ...rest, ...fields } : { ...rest, ...(fields === undefined ? {} : { fields }) };
}

/** Redundant with an article's markdown, or useless to readers; shown when requested by name. */
const SAID_BY_MARKDOWN: ReadonlySet<string> = new Set(["text", "links", "content_hash"]);

/** The default extraction, without named fields. */
function isArticle(data: Readonly<Record<string, unknown>>): boolean {
  return typeof data["markdown"] === "string" && "content_hash" in data;
}

function without(record: Record<string, unknown>, names: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}

/** What to do about fields that did not fit. */
export function leftOutNote(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return [];
  const names = leftOut.slice(0, 10).join(", ");
  return [
    `${leftOut.length} more fields do not fit (${names}${leftOut.length > 10 ? ", …" : ""}): select fields with only`,
  ];
}
