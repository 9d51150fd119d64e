/** Files that no row may need any more, recorded for the sweep. */
import type { Collector, ForEach } from "../kernel/connection.ts";
import { type Context, RANK } from "../kernel/context.ts";

const INSERT: ForEach = {
  text: "INSERT INTO orphaned_files SELECT new.hash FROM new WHERE true ORDER BY new.row_index ON CONFLICT DO NOTHING",
  columns: { hash: "bytea" },
};

/** Files that were stored for rows that were never written. */
export function recordOrphanedFiles({ connection }: Context, hashes: readonly string[]): void {
  if (hashes.length > 0) connection.atEnd(ORPHANED_FILES, () => hashes);
}

/** In order: other runs may have files with the same content. */
export const ORPHANED_FILES: Collector<() => readonly string[]> = {
  rank: RANK.orphanedFiles,
  write(connection, lists) {
    const hashes = [...new Set(lists.flatMap((list) => list()))].toSorted();
    connection.dialect.each(
      connection,
      INSERT,
      hashes.map((hash) => [Buffer.from(hash, "hex")]),
    );
  },
};
