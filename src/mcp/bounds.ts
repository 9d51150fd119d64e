/** Keeps answers short: cuts long values at a sensible place, and says where they go on. */

/** The length of a value in an answer: as JSON, or as it is written out, whichever is longer. */
export function costOf(value: unknown): number {
  return (JSON.stringify(value) ?? "").length;
}

/** Where a text of at most `room` characters ends well: behind a paragraph, a line, a sentence or a word. */
export function cutAt(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const least = Math.floor(room * 0.7);
  const head = text.slice(0, room);
  for (const end of ["\n\n", "\n", ". ", " "]) {
    const at = head.lastIndexOf(end);
    if (at >= least) return at + end.length;
  }
  // Half of a character that takes two places is none.
  const last = head.charCodeAt(head.length - 1);
  return Math.max(1, last >= 0xd800 && last <= 0xdbff ? room - 1 : room);
}

/** The part of a text, from its beginning, that takes at most `room` characters as JSON. */
export function headOf(text: string, room: number): string {
  const whole = costOf(text);
  if (whole <= room) return text;
  // Line breaks and quotes take two places in JSON: the share of the whole is a good first guess.
  let size = Math.floor((text.length * Math.max(0, room - 2)) / whole);
  let head = text.slice(0, cutAt(text, size));
  while (size > 1 && costOf(head) > room) {
    size = Math.floor(size * 0.9);
    head = text.slice(0, cutAt(text, size));
  }
  return size < 1 ? "" : head;
}

/** A value that was too long: how much of it was shown, in characters or in entries. */
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
    // An entry that fits no answer at all is shown as far as it goes, so that one gets past it.
    if (part.length === 0 && offset < value.length && room > 100) part.push(headOf(textOf(value[offset]), room - 4));
    return { part, end: offset + part.length, total: value.length, unit: "entries" };
  }
  const text = textOf(value);
  const part = headOf(text.slice(offset), room);
  return { part, end: offset + part.length, total: text.length, unit: "characters" };
}

/** Objects are cut as what they are written as. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Less of a value than this says nothing. */
const LEAST_OF_A_VALUE = 80;
/** What telling of one cut takes: the name of the field, and the cursor behind it. */
const NOTE = 420;

interface Fitted {
  record: Record<string, unknown>;
  cuts: Cut[];
  /** Names of those for which there was no room at all. */
  leftOut: string[];
}

/** A record that takes at most `room` characters: the longest values are cut, all to the same length. */
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

/** The largest length to which all longer values may be cut so that all fit, with a note for each that is cut. */
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

/** As many from the beginning of a list as fit into so many characters. */
export function takeFitting<T>(list: readonly T[], room: number): T[] {
  let left = room;
  const end = list.findIndex((entry) => (left -= costOf(entry) + 1) < 0);
  return end === -1 ? [...list] : list.slice(0, end);
}

/** One line of a text that nobody bounded. */
export function short(text: string | null, most = 400): string | null {
  if (text === null || text.length <= most) return text;
  return `${text.slice(0, cutAt(text, most - 2))} …`;
}
