/** The position where an answer stopped: a record of a list, or within one of its values. */
import { ToolFailure } from "./tool.ts";

export interface RecordPosition {
  /** The API's cursor of the page; empty: the first. */
  page: string;
  /** The record's index on that page. */
  index: number;
  /** Position within a value of that record. */
  within?: { field: string; offset: number };
}

export const BEGINNING: RecordPosition = { page: "", index: 0 };

export function encodeCursor({ page, index, within }: RecordPosition): string {
  const parts = within === undefined ? [page, index] : [page, index, within.field, within.offset];
  return Buffer.from(JSON.stringify(parts), "utf8").toString("base64url");
}

export function decodeCursor(cursor: string | undefined): RecordPosition {
  if (cursor === undefined) return BEGINNING;
  const [page, index, field, offset] = partsOf(cursor);
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (typeof page !== "string" || !isCount(index)) throw badCursor();
  if (field === undefined) return { page, index };
  if (typeof field !== "string" || !isCount(offset)) throw badCursor();
  return { page, index, within: { field, offset } };
}

function partsOf(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

export function badCursor(): ToolFailure {
  return new ToolFailure(
    "cursor: is not a cursor of this list. Copy it unchanged from an earlier response, or omit it to start from the beginning.",
  );
}
