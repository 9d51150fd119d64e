import { type Context, rows } from "./context.ts";

/** One range of the index of ids, on both databases: their order is that of the bytes. */
export function readIdsFrom(
  { connection }: Context,
  what: "run" | "crawl" | "workflow",
  beginning: string,
  limit: number,
): string[] {
  // No id has a character behind f.
  const range = [beginning, `${beginning}g`] as const;
  const of = (rest: string) => `SELECT id FROM runs WHERE id >= ? AND id < ? AND removing_at IS NULL ${rest}`;
  const list =
    what === "run"
      ? connection.sql(of("ORDER BY id LIMIT ?")).all(...range, limit)
      : connection.sql(of("AND kind = ? ORDER BY id LIMIT ?")).all(...range, what, limit);
  return rows<{ id: string }>(list).map(({ id }) => id);
}
