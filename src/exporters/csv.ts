/**
 * A table for spreadsheets (RFC 4180): `url`, then a column per field.
 *
 * The header precedes the first row, but any record may bring new fields. So the columns are those that the caller
 * names, or else those of the first thousand records. Other fields go as a JSON object into a last column `_more`,
 * which exists only if it may be needed: when there are more records than were sampled, or when some of the sampled
 * ones have fields without a column.
 */
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Exporter, ExportOptions, ExportRecord } from "./exporter.ts";
import { asText, type Batch, batchesOf, columnNames, fieldsOf, inChunks } from "./stream.ts";

const LIMITS = { records: 1_000, weight: 8 * 1024 * 1024 };
/** Wider than any spreadsheet people read; further fields go to `_more`. */
const MAX_COLUMNS = 1_000;

export const csvExporter: Exporter = {
  name: "csv",
  contentType: "text/csv; charset=utf-8",
  extension: "csv",
  about: "a table for spreadsheets: url and a column per field, formulas defused",
  isText: true,
  export: (records, options = {}) => inChunks(rows(records, options)),
};

const BYTE_ORDER_MARK = new Uint8Array([0xef, 0xbb, 0xbf]);

/** Excel assumes its legacy charset unless the file begins with a byte order mark. */
export const csvExcelExporter: Exporter = {
  ...csvExporter,
  name: "csv-excel",
  about: "csv with a byte order mark, so that Excel reads the characters correctly",
  async *export(records, options) {
    let isFirst = true;
    for await (const chunk of csvExporter.export(records, options)) {
      yield isFirst ? Buffer.concat([BYTE_ORDER_MARK, chunk]) : chunk;
      isFirst = false;
    }
  },
};

interface Table {
  fields: readonly string[];
  known: ReadonlySet<string>;
  hasMore: boolean;
}

async function* rows(records: AsyncIterable<ExportRecord>, options: ExportOptions): AsyncGenerator<string> {
  let table: Table | undefined;
  for await (const batch of batchesOf(records, LIMITS)) {
    if (table === undefined) {
      table = tableFor(batch, options);
      yield header(table);
    }
    for (const record of batch.records) yield row(table, record);
  }
}

function tableFor(first: Batch, { columns }: ExportOptions): Table {
  const seen = fieldsOf(first.records, Number.POSITIVE_INFINITY);
  const fields = [...new Set(columns ?? seen)].slice(0, MAX_COLUMNS);
  const known = new Set(fields);
  return { fields, known, hasMore: !first.last || seen.some((field) => !known.has(field)) };
}

function header({ fields, hasMore }: Table): string {
  const names = columnNames(fields, hasMore ? ["url", "_more"] : ["url"]);
  return line(["url", ...names.values(), ...(hasMore ? ["_more"] : [])].map((name) => cell(name)));
}

function row({ fields, known, hasMore }: Table, { url, data }: ExportRecord): string {
  const cells = fields.map((field) => cell(Object.hasOwn(data, field) ? (data[field] ?? null) : null));
  if (!hasMore) return line([cell(url), ...cells]);
  const others = Object.entries(data).filter(([field]) => !known.has(field));
  return line([cell(url), ...cells, others.length === 0 ? "" : cell(Object.fromEntries(others))]);
}

function line(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}

/** Empty for null, `""` for an empty string, so that the two differ. */
function cell(value: JsonValue): string {
  if (value === null) return "";
  const text = typeof value === "string" ? defused(value) : asText(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet may interpret as a formula, also behind quotes and spaces or in full-width characters. */
const FORMULA = /^["'\s\0]*[=+\-@＝＋－＠]|^["']*[\t\r\n]/;
const PLAIN_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Scraped text must not run as a formula on the reader's machine: it gets a leading apostrophe, which spreadsheets read
 * as "this is text". A text that already begins with an apostrophe and a formula gets another one, so that removing one
 * always restores the original. Numbers stay numbers.
 */
function defused(text: string): string {
  return FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}
