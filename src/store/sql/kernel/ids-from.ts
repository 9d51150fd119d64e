import { type Context, rows } from "./context.ts";

/** One index range on both databases: ids sort by bytes. */
export function readIdsFrom(
  { connection }: Context,
  what: "run" | "crawl" | "workflow",
  prefix: string,
  limit: number,
): string[] {
  // Ids contain no character after f.
  const range = [prefix, `${prefix}g`] as const;
  const of = (rest: string) => `SELECT id FROM runs WHERE id >= ? AND id < ? AND removing_at IS NULL ${rest}`;
  const list =
    what === "run"
      ? connection.sql(of("ORDER BY id LIMIT ?")).all(...range, limit)
      : connection.sql(of("AND kind = ? ORDER BY id LIMIT ?")).all(...range, what, limit);
  return rows<{ id: string }>(list).map(({ id }) => id);
}
