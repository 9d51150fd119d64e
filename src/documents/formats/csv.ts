/** Tables as text: comma, semicolon, tab or bar between the values. */
import type { DocumentLimits } from "../document.ts";
import { type DocumentFacts, escapeText, type HtmlWriter } from "../html.ts";

/** If two split all rows into as many values, the first: a comma is also in numbers and sentences. */
const DELIMITERS = [";", "\t", ",", "|"] as const;
/** Enough to see which delimiter gives every row the same number of values. */
const SAMPLE = 64 * 1024;

export function readCsv(text: string, _limits: DocumentLimits, writer: HtmlWriter): DocumentFacts {
  const source = text.replace(/^\uFEFF/, "");
  const declared = /^sep=(.)\r?\n/i.exec(source);
  const delimiter = declared?.[1] ?? delimiterOf(source.slice(0, SAMPLE));
  const rows = rowsOf(declared === null ? source : source.slice(declared[0].length), delimiter);
  writer.raw("<table>\n");
  let isFirst = true;
  for (const row of rows) {
    if (row.every((value) => value.trim() === "")) continue;
    const tag = isFirst ? "th" : "td";
    isFirst = false;
    const cells = row.map((value) => `<${tag}>${escapeText(value.trim()).replace(/\r?\n/g, "<br>")}</${tag}>`);
    writer.raw(`<tr>${cells.join("")}</tr>\n`);
  }
  writer.raw("</table>\n");
  return {};
}

/** The one that splits the most rows of the sample into the same number of values, more than one. */
function delimiterOf(sample: string): string {
  let best: { delimiter: string; score: number } = { delimiter: ",", score: 0 };
  for (const delimiter of DELIMITERS) {
    const counts = new Map<number, number>();
    for (const row of rowsOf(sample, delimiter)) counts.set(row.length, (counts.get(row.length) ?? 0) + 1);
    counts.delete(1);
    for (const [columns, rows] of counts) {
      const score = rows + columns / 1000;
      if (score > best.score) best = { delimiter, score };
    }
  }
  return best.delimiter;
}

/** RFC 4180, with quotes that stand inside of an unquoted value kept. */
function* rowsOf(text: string, delimiter: string): Generator<string[]> {
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let value = "";
    if (text[at] === '"') {
      let end = text.indexOf('"', at + 1);
      const parts: string[] = [];
      let from = at + 1;
      while (end >= 0 && text[end + 1] === '"') {
        parts.push(text.slice(from, end + 1));
        from = end + 2;
        end = text.indexOf('"', from);
      }
      parts.push(text.slice(from, end < 0 ? text.length : end));
      value = parts.join("");
      at = end < 0 ? text.length : end + 1;
    }
    const from = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") at += 1;
    row.push(value + text.slice(from, at));
    if (text[at] === delimiter) {
      at += 1;
      if (at === text.length) row.push("");
      continue;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}
