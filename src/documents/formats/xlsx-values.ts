/** How the cells of a spreadsheet are shown. */
import { readXml } from "../xml.ts";

type NumberForm =
  /** `moment`: a date or a time, depending on the language of the file. */
  | { kind: "date" | "time" | "datetime" | "moment" }
  /** `[h]:mm`: the first unit goes on beyond a day. */
  | { kind: "duration"; unit: "h" | "m" | "s"; seconds: boolean }
  | { kind: "percent"; digits: number }
  | null;

/** Built-in formats by their ids (ECMA-376, 18.8.30). */
const BUILT_IN: ReadonlyMap<number, NumberForm> = new Map<number, NumberForm>([
  [9, { kind: "percent", digits: 0 }],
  [10, { kind: "percent", digits: 2 }],
  ...[14, 15, 16, 17].map((id) => [id, { kind: "date" }] as [number, NumberForm]),
  ...[18, 19, 20, 21, 45, 47].map((id) => [id, { kind: "time" }] as [number, NumberForm]),
  [46, { kind: "duration", unit: "h", seconds: true }],
  // East Asian formats: which of them are times differs between Japanese, Chinese and Korean.
  ...[27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, { kind: "date" }] as [number, NumberForm]),
  ...[32, 33].map((id) => [id, { kind: "time" }] as [number, NumberForm]),
  ...[34, 35, 55, 56].map((id) => [id, { kind: "moment" }] as [number, NumberForm]),
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
  const unquoted = positive.replace(/"[^"]*"|\\./g, "").toLowerCase();
  const elapsed = /\[(h|m|s)\1*\]/.exec(unquoted)?.[1] as "h" | "m" | "s" | undefined;
  if (elapsed !== undefined)
    return {
      kind: "duration",
      unit: elapsed,
      seconds: elapsed === "s" || /s/.test(unquoted.replace(/\[[^\]]*\]/g, "")),
    };
  const plain = positive.replace(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, "").toLowerCase();
  if (plain.includes("%")) return { kind: "percent", digits: /\.(0+)/.exec(plain)?.[1]?.length ?? 0 };
  const hasTime = /[hs]/.test(plain);
  // A month and a minute are both `m`; a year or a day says that it is a date.
  const hasDate = /[yd]/.test(plain) || (plain.includes("m") && !hasTime);
  if (/general|[#0?]/.test(plain.replace(/[hmsyd:./\s-]|0+(?=$)/g, "")) && !hasDate && !hasTime) return null;
  if (hasDate) return { kind: hasTime ? "datetime" : "date" };
  return hasTime ? { kind: "time" } : null;
}

/** Day 0, so that day 60, which never was, and the days before it are a day off as in Excel's own calendar. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** The year 9999. */
const MAX_DAY = 2_958_466;

export function shownNumber(raw: string, form: NumberForm, is1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === "" || !Number.isFinite(value)) return raw;
  if (form === null) return plainNumber(value);
  // 0.285 is 28.499999999999996 %.
  if (form.kind === "percent") return `${Number((value * 100).toPrecision(15)).toFixed(form.digits)}%`;
  if (form.kind === "duration") return durationOf(value, form);
  if (value < 0 || value >= MAX_DAY) return plainNumber(value);
  const ms = (is1904 ? EPOCH_1904 : EPOCH_1900) + Math.round(value * 86_400) * 1000;
  const iso = new Date(ms).toISOString();
  const kind = form.kind === "moment" ? momentOf(value) : form.kind;
  if (kind === "date") return iso.slice(0, 10);
  const time = iso.slice(11, 19).replace(/:00$/, "");
  return kind === "datetime" ? `${iso.slice(0, 10)} ${time}` : time;
}

function momentOf(value: number): "date" | "time" | "datetime" {
  if (value < 1) return "time";
  return Number.isInteger(value) ? "date" : "datetime";
}

function durationOf(days: number, { unit, seconds: hasSeconds }: { unit: "h" | "m" | "s"; seconds: boolean }): string {
  const total = Math.round(Math.abs(days) * 86_400);
  const sign = days < 0 && total > 0 ? "-" : "";
  const two = (number: number) => String(number).padStart(2, "0");
  const [minutes, seconds] = [Math.floor(total / 60), total % 60];
  if (unit === "s") return `${sign}${total}`;
  const rest = hasSeconds ? `:${two(seconds)}` : "";
  return unit === "m" ? `${sign}${minutes}${rest}` : `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}${rest}`;
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
