/** How the cells of a spreadsheet are shown. */
import { readXml } from "../xml.ts";

type NumberForm = { kind: "date" | "time" | "datetime" } | { kind: "percent"; digits: number } | null;

/** Built-in formats by their ids (ECMA-376, 18.8.30). */
const BUILT_IN: ReadonlyMap<number, NumberForm> = new Map<number, NumberForm>([
  [9, { kind: "percent", digits: 0 }],
  [10, { kind: "percent", digits: 2 }],
  ...[14, 15, 16, 17].map((id) => [id, { kind: "date" }] as [number, NumberForm]),
  ...[18, 19, 20, 21, 45, 46, 47].map((id) => [id, { kind: "time" }] as [number, NumberForm]),
  [22, { kind: "datetime" }],
]);

/** Number formats by the index of a cell's style. */
export function readCellForms(stylesXml: string): NumberForm[] {
  const custom = new Map<number, NumberForm>();
  const forms: NumberForm[] = [];
  let inCells = false;
  readXml(stylesXml, {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt") custom.set(Number(numFmtId), formOf(formatCode));
      else if (name === "cellXfs") inCells = true;
      else if (name === "xf" && inCells)
        forms.push(custom.get(Number(numFmtId)) ?? BUILT_IN.get(Number(numFmtId)) ?? null);
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return forms;
}

function formOf(code: string): NumberForm {
  const [positive = ""] = code.split(";");
  const plain = positive.replace(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, "").toLowerCase();
  if (plain.includes("%")) return { kind: "percent", digits: /\.(0+)/.exec(plain)?.[1]?.length ?? 0 };
  const hasTime = /[hs]/.test(plain);
  // A month and a minute are both `m`; a year or a day says that it is a date.
  const hasDate = /[yd]/.test(plain) || (plain.includes("m") && !hasTime);
  if (/general|[#0?]/.test(plain.replace(/[hmsyd:./\s-]|0+(?=$)/g, "")) && !hasDate && !hasTime) return null;
  if (hasDate) return { kind: hasTime ? "datetime" : "date" };
  return hasTime ? { kind: "time" } : null;
}

const DAY_MS = 86_400_000;
/** Day 0, so that day 60, which never was, and the days before it are a day off as in Excel's own calendar. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** The year 9999. */
const MAX_DAY = 2_958_466;

export function shownNumber(raw: string, form: NumberForm, is1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === "" || !Number.isFinite(value)) return raw;
  if (form === null) return plainNumber(value);
  if (form.kind === "percent") return `${(value * 100).toFixed(form.digits)}%`;
  if (value < 0 || value >= MAX_DAY) return plainNumber(value);
  const ms = (is1904 ? EPOCH_1904 : EPOCH_1900) + Math.round(value * 86_400) * 1000;
  const iso = new Date(ms).toISOString();
  if (form.kind === "date") return iso.slice(0, 10);
  const time = iso.slice(11, 19).replace(/:00$/, "");
  if (form.kind === "datetime") return `${iso.slice(0, 10)} ${time}`;
  // A duration may be longer than a day.
  return value < 1 ? time : `${Math.floor((value * DAY_MS) / 3_600_000)}${iso.slice(13, 19)}`;
}

/** Excel stores 17 digits and shows 15: 0.1 + 0.2 is 0.3. */
function plainNumber(value: number): string {
  return String(Number(value.toPrecision(15)));
}

/** `BC12` is column 54 of row 11, both from 0. */
export function cellPosition(reference: string): { row: number; column: number } | null {
  const match = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference);
  if (match === null) return null;
  let column = 0;
  for (const letter of match[1]!) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(match[2]) - 1, column: column - 1 };
}
