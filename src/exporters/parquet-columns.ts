/**
 * Apache Parquet, written one row group at a time: `id`, `run_id`, `task_id`, `url`, `created_at`, then a column per
 * field. A plain table has `url` and the fields.
 *
 * The first row group decides the schema, because later ones have not been seen yet:
 * - only booleans make a BOOLEAN column, only numbers a DOUBLE column, everything else a column of strings, in which
 *   texts are written as they are and other values as JSON;
 * - integers make an INT64 column only when all records have been seen, because a later 9.99 would not fit, while a
 *   DOUBLE holds every number that JSON can.
 *
 * A later value that does not fit its column, and a later field without a column, go as a JSON object into a last
 * column `_more`, which exists when there is more than one row group. A column of strings takes any value.
 */
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { ExportOptions, ExportRecord } from "./exporter.ts";
import { asText, type Batch, batchesOf, columnNames, fieldsOf } from "./stream.ts";

const LIMITS = { records: 5_000, weight: 8 * 1024 * 1024 };
const MAX_COLUMNS = 1_000;
const RECORD_COLUMNS = ["id", "run_id", "task_id", "url"] as const;

type ColumnType = "BOOLEAN" | "INT64" | "DOUBLE" | "TIMESTAMP" | "STRING";
type Cell = string | boolean | number | bigint | Date | null;

interface Column {
  name: string;
  type: ColumnType;
  /** The field of `data`; undefined: a column of the record itself. */
  field?: string;
  read: (record: ExportRecord) => JsonValue;
}

export async function* rowGroups(
  records: AsyncIterable<ExportRecord>,
  options: ExportOptions,
): AsyncGenerator<Uint8Array> {
  const bytes = new DrainedWriter();
  let columns: Column[] = [];
  let known = new Set<string>();
  let hasMore = false;
  let writer: ParquetWriter | undefined;
  for await (const batch of batchesOf(records, LIMITS)) {
    if (writer === undefined) {
      columns = columnsFor(batch, options);
      known = new Set(columns.flatMap(({ field }) => field ?? []));
      hasMore = needsMore(batch, known);
      const schema = schemaOf(columns, hasMore);
      // Statistics would compare as UTF-16 and copy whole cells into the footer; readers do without.
      writer = new ParquetWriter({ writer: bytes, schema, statistics: false });
    }
    const columnData = tableOf(batch.records, columns, known, hasMore);
    await writer.write({ columnData, rowGroupSize: Math.max(1, batch.records.length) });
    yield bytes.drain();
  }
  await writer?.finish();
  yield bytes.drain();
}

/** Drains the bytes written so far but keeps counting: the file's footer holds absolute offsets. */
class DrainedWriter extends ByteWriter {
  drain(): Uint8Array {
    const written = new Uint8Array(this.getBuffer());
    this.index = 0;
    return written;
  }
}

function columnsFor({ records, last }: Batch, { columns, plain = false }: ExportOptions): Column[] {
  const fields = [...new Set([...(columns ?? []), ...fieldsOf(records, MAX_COLUMNS)])].slice(0, MAX_COLUMNS);
  const names = columnNames(fields, plain ? ["url", "_more"] : [...RECORD_COLUMNS, "created_at", "_more"]);
  const fixed = (plain ? (["url"] as const) : RECORD_COLUMNS).map((name): Column => ({
    name,
    type: "STRING",
    read: (record) => record[name],
  }));
  const created: Column = {
    name: "created_at",
    type: records.every((record) => isInstant(record.created_at)) ? "TIMESTAMP" : "STRING",
    read: (record) => record.created_at,
  };
  return [
    ...fixed,
    ...(plain ? [] : [created]),
    ...fields.map((field): Column => {
      const read = ({ data }: ExportRecord) => (Object.hasOwn(data, field) ? (data[field] ?? null) : null);
      return { name: names.get(field) ?? field, type: typeOf(records, read, last), field, read };
    }),
  ];
}

function typeOf(records: readonly ExportRecord[], read: Column["read"], last: boolean): ColumnType {
  const kinds = new Set<string>();
  for (const record of records) {
    const value = read(record);
    if (value === null) continue;
    kinds.add(Number.isSafeInteger(value) ? "whole" : typeof value);
  }
  const only = (...names: string[]) => kinds.size > 0 && [...kinds].every((kind) => names.includes(kind));
  if (only("boolean")) return "BOOLEAN";
  if (only("whole") && last) return "INT64";
  return only("whole", "number") ? "DOUBLE" : "STRING";
}

function needsMore({ records, last }: Batch, known: ReadonlySet<string>): boolean {
  return !last || records.some(({ data }) => Object.keys(data).some((field) => !known.has(field)));
}

type Schema = ConstructorParameters<typeof ParquetWriter>[0]["schema"];

function schemaOf(columns: readonly Column[], hasMore: boolean): Schema {
  const all = [...columns, ...(hasMore ? [{ name: "_more", type: "STRING" as const }] : [])];
  const schema: Schema = [{ name: "root", num_children: all.length }];
  for (const { name, type } of all) {
    if (type === "STRING") {
      schema.push({ name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" });
    } else if (type === "TIMESTAMP") {
      schema.push({ name, type: "INT64", converted_type: "TIMESTAMP_MILLIS", repetition_type: "OPTIONAL" });
    } else schema.push({ name, type, repetition_type: "OPTIONAL" });
  }
  return schema;
}

function tableOf(records: readonly ExportRecord[], columns: readonly Column[], known: Set<string>, hasMore: boolean) {
  const unfitted = records.map(({ data }) => Object.entries(data).filter(([field]) => !known.has(field)));
  const columnData = columns.map((column) => ({
    name: column.name,
    // Small row groups need no page index, which would be kept in memory until the end.
    offsetIndex: false,
    data: records.map((record, index): Cell => {
      const value = column.read(record);
      const cell = value === null ? null : fitted(value, column.type);
      if (value === null || cell !== undefined) return cell ?? null;
      unfitted[index]?.push([column.field ?? column.name, value]);
      return null;
    }),
  }));
  if (!hasMore) return columnData;
  const more = unfitted.map((others) => (others.length === 0 ? null : JSON.stringify(Object.fromEntries(others))));
  return [...columnData, { name: "_more", offsetIndex: false, data: more }];
}

/** The value in its column's type; undefined: it does not fit. */
function fitted(value: JsonValue, type: ColumnType): Cell | undefined {
  if (type === "STRING") return asText(value);
  if (type === "BOOLEAN") return typeof value === "boolean" ? value : undefined;
  if (type === "DOUBLE") return typeof value === "number" ? value : undefined;
  if (type === "INT64") return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
  return isInstant(value) ? new Date(value) : undefined;
}

function isInstant(value: JsonValue): value is string {
  return (
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/.test(value) &&
    !isNaN(Date.parse(value))
  );
}
