/**
 * Public ids are UUIDs. Rows that exist by the million (tasks, events, artifacts, results) are numbered in the
 * store and get their UUID by arithmetic: 48 bits of the instance, a kind, and the number (UUID version 8, whose
 * content is free). That saves a 36-byte column and its index on every row, about 90 bytes a task. Jobs and sessions,
 * which are deleted at will, have such ids, too: a reader of their list can go on behind one that is gone.
 */
export const ID_KINDS = {
  task: 1,
  event: 2,
  artifact: 3,
  result: 4,
  job: 5,
  session: 6,
  alert: 7,
  proxy: 8,
  call: 9,
  channel: 20,
  notice: 21,
  delivery: 22,
} as const;
export type IdKind = keyof typeof ID_KINDS;

/** Instances are few and ids many: the constant part is made once. */
const prefixes = new Map<string, string>();

export function encodeId(instance: string, kind: IdKind, row: number): string {
  const name = instance + kind;
  let prefix = prefixes.get(name);
  if (prefix === undefined) {
    const digits = instance.replaceAll("-", "").slice(0, 12);
    prefix = `${digits.slice(0, 8)}-${digits.slice(8)}-8${ID_KINDS[kind].toString(16).padStart(3, "0")}-8`;
    prefixes.set(name, prefix);
  }
  const number = row.toString(16).padStart(15, "0");
  return `${prefix}${number.slice(0, 3)}-${number.slice(3)}`;
}

/** The row number, or null when the id is not one of this instance and kind. */
export function decodeId(instance: string, kind: IdKind, id: string): number | null {
  const match = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8([0-9a-f]{3})-([0-9a-f]{12})$/.exec(id.toLowerCase());
  if (match === null) return null;
  const row = Number.parseInt(`${match[1]}${match[2]}`, 16);
  return Number.isSafeInteger(row) && encodeId(instance, kind, row) === id.toLowerCase() ? row : null;
}
