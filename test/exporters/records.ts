import type { Exporter, ExportOptions, ExportRecord } from "../../src/exporters/exporter.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";

export function record(data: Record<string, JsonValue>, number = 1): ExportRecord {
  return {
    id: `res_${number}`,
    run_id: "run_1",
    task_id: `task_${number}`,
    url: `https://shop.example/item/${number}`,
    data,
    created_at: "2026-03-01T12:00:00.000Z",
  };
}

export async function* stream<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

export async function bytesOf(
  exporter: Exporter,
  records: AsyncIterable<ExportRecord>,
  options?: ExportOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of exporter.export(records, options)) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  return new Uint8Array(whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length) as ArrayBuffer);
}

export async function textOf(exporter: Exporter, data: Record<string, JsonValue>[], options?: ExportOptions) {
  const records = stream(data.map((one, index) => record(one, index + 1)));
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await bytesOf(exporter, records, options));
}

/** Strings that have broken exports before. */
export const HOSTILE: readonly string[] = [
  "",
  " ",
  'a "quoted" word',
  "two\nlines",
  "carriage\rreturn and\r\nboth",
  "comma, semicolon; tab\t",
  "=1+1",
  "+SUM(A1)",
  "-2+3",
  "@cmd",
  "\t=1",
  "\r=1",
  '"=1',
  "'=1",
  "'",
  "''",
  " =1",
  "＝1",
  "-5",
  "+3.2",
  "-1e-7",
  "nul \0 in the middle",
  "\0=1",
  "🕸️ spider 👩‍👩‍👧",
  "שלום \u202Ertl\u202C",
  "\uFEFFbom",
  "\u2028line\u2029paragraph",
  "</script><!-- -->",
  "# heading\n| a | b |\n|---|---|",
  "x".repeat(1024 * 1024),
];
