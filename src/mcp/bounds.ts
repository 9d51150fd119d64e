/** Limits the length of answers: cuts long values at a sensible position and reports where they continue. */

/** The length of a value in an answer: as JSON or as rendered text, whichever is longer. */
export function costOf(value: unknown): number {
  return (JSON.stringify(value) ?? "").length;
}

/** A good end within `room` characters: after a paragraph, a line, a sentence or a word. */
export function cutAt(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const least = Math.floor(room * 0.7);
  const head = text.slice(0, room);
  for (const end of ["\n\n", "\n", ". ", " "]) {
    const at = head.lastIndexOf(end);
    if (at >= least) return at + end.length;
  }
  // Do not split a surrogate pair.
  const last = head.charCodeAt(head.length - 1);
  return Math.max(1, last >= 0xd800 && last <= 0xdbff ? room - 1 : room);
}

/** The longest prefix of a text that takes at most `room` characters as JSON. */
export function headOf(text: string, room: number): string {
  const whole = costOf(text);
  if (whole <= room) return text;
  // Escaped characters take two in JSON: the ratio of the whole text is a good first guess.
  let size = Math.floor((text.length * Math.max(0, room - 2)) / whole);
  let head = text.slice(0, cutAt(text, size));
  while (size > 1 && costOf(head) > room) {
    size = Math.floor(size * 0.9);
    head = text.slice(0, cutAt(text, size));
  }
  return size < 1 ? "" : head;
}

/** A cut value: how much of it was shown, in characters or in entries. */
export interface Cut {
  field: string;
  shown: number;
  total: number;
  unit: "characters" | "entries";
}

/** The part of a value from `offset` on that takes at most `room` characters. */
export function partOf(
  value: unknown,
  offset: number,
  room: number,
): { part: unknown; end: number } & Omit<Cut, "field" | "shown"> {
  if (Array.isArray(value)) {
    const part: unknown[] = [];
    let left = room - 2;
    for (const entry of value.slice(offset) as unknown[]) {
      const cost = costOf(entry) + 1;
      if (cost > left) break;
      left -= cost;
      part.push(entry);
    }
    // An entry too long for any answer is shown in part, so that the reader can get past it.
    if (part.length === 0 && offset < value.length && room > 100) part.push(headOf(textOf(value[offset]), room - 4));
    return { part, end: offset + part.length, total: value.length, unit: "entries" };
  }
  const text = textOf(value);
  const part = headOf(text.slice(offset), room);
  return { part, end: offset + part.length, total: text.length, unit: "characters" };
}

/** Objects are cut in their JSON form. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Shorter parts are useless. */
const LEAST_OF_A_VALUE = 80;
/** Characters for one cut note: the field's name and the cursor. */
const NOTE = 420;

interface Fitted {
  record: Record<string, unknown>;
  cuts: Cut[];
  /** Names of fields that did not fit at all. */
  leftOut: string[];
}

/** A record in at most `room` characters: the longest values are cut, all to the same length. */
export function fitRecord(record: Readonly<Record<string, unknown>>, room: number): Fitted {
  if (costOf(record) <= room) return { record, cuts: [], leftOut: [] };
  const fields = Object.entries(record).map(([name, value]) => ({
    name,
    value,
    cost: costOf(value) + costOf(name) + 2,
  }));
  const level = levelOf(
    fields.map(({ cost }) => cost),
    room - 2,
  );
  // Entries, not assignments: a field may have the name `__proto__`.
  const shown: [name: string, value: unknown][] = [];
  const cuts: Cut[] = [];
  const leftOut: string[] = [];
  let left = room - 2;
  for (const { name, value, cost } of fields) {
    const isCut = cost > level;
    const own = (isCut ? level : cost) + (isCut ? NOTE : 0);
    const most = Math.min(level, left - NOTE) - costOf(name) - 2;
    if (isCut ? most < LEAST_OF_A_VALUE : own > left) {
      leftOut.push(name);
      continue;
    }
    if (!isCut) {
      shown.push([name, value]);
      left -= cost;
      continue;
    }
    const { part, end, total, unit } = partOf(value, 0, most);
    shown.push([name, part]);
    cuts.push({ field: name, shown: end, total, unit });
    left -= costOf(part) + costOf(name) + 2 + NOTE;
  }
  return { record: Object.fromEntries(shown), cuts, leftOut };
}

/** The largest common length for long values so that all fit, with a note for each cut one. */
function levelOf(costs: readonly number[], room: number): number {
  const sorted = costs.toSorted((a, b) => a - b);
  let left = room;
  for (const [index, cost] of sorted.entries()) {
    const rest = sorted.length - index;
    const share = Math.floor(left / rest) - NOTE;
    if (cost > share) return Math.max(LEAST_OF_A_VALUE * 2, share);
    left -= cost;
  }
  return Number.POSITIVE_INFINITY;
}

/** The longest prefix of a list that fits. */
export function takeFitting<T>(list: readonly T[], room: number): T[] {
  let left = room;
  const end = list.findIndex((entry) => (left -= costOf(entry) + 1) < 0);
  return end === -1 ? [...list] : list.slice(0, end);
}

/** One line of an unbounded text. */
export function short(text: string | null, most = 400): string | null {
  if (text === null || text.length <= most) return text;
  return `${text.slice(0, cutAt(text, most - 2))} …`;
}
