/** Pages that are compared with the last time that they were read, with or without a job. */
import type { TrackedPage } from "../../../domain/monitor/tracking.ts";
import type { TrackedPageRecord } from "../../ports/monitors/tracked-port.ts";
import type { SettledTask } from "../../ports/port.ts";
import type { Collector } from "../kernel/connection.ts";
import { type Context, RANK } from "../kernel/context.ts";
import { recordOrphanedFiles } from "../runs/orphaned-files.ts";
import { monitorKey } from "./waiting-pages.ts";

export function keepTrackedPage(context: Context, { report }: SettledTask, now: number): void {
  const page = report?.tracked;
  if (page === undefined) return;
  if (page.replaces !== null && page.replaces !== page.hash) {
    recordOrphanedFiles(context, [page.replaces]);
    // The file is deleted next.
    context.connection.dialect.outliveCrash(context.connection);
  }
  context.connection.atEnd(TRACKED, { page, now: Math.round(now) });
}

/** In order: other runs may read the same pages. */
const TRACKED: Collector<{ page: TrackedPage; now: number }> = {
  rank: RANK.trackedPages,
  write(connection, list) {
    const pages = new Map(list.map((one) => [Buffer.from(monitorKey(one.page.key)).toString("hex"), one]));
    for (const [key, { page, now }] of [...pages].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      connection
        .sql(
          `INSERT INTO tracked_pages (key_hash, url, hash, size, sealed, read_at) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (key_hash) DO UPDATE SET url = excluded.url, hash = excluded.hash, size = excluded.size,
             sealed = excluded.sealed, read_at = excluded.read_at`,
        )
        .run(Buffer.from(key, "hex"), page.url, Buffer.from(page.hash, "hex"), page.size, page.isSealed ? 1 : 0, now);
  },
};

export function readTrackedPage({ connection }: Context, key: string): TrackedPageRecord | null {
  const row = connection
    .sql("SELECT hash, sealed, read_at FROM tracked_pages WHERE key_hash = ?")
    .get(monitorKey(key)) as { hash: Uint8Array; sealed: number; read_at: number } | undefined;
  if (row === undefined) return null;
  return { hash: Buffer.from(row.hash).toString("hex"), isSealed: row.sealed === 1, readAt: row.read_at };
}

/** Removes up to `limit` pages that were last read before then; returns how many. */
export function expireTracked({ connection }: Context, before: number, limit: number): number {
  const which = "key_hash IN (SELECT key_hash FROM tracked_pages WHERE read_at < ? ORDER BY read_at LIMIT ?)";
  if (connection.sql("SELECT 1 FROM tracked_pages WHERE read_at < ? LIMIT 1").get(before) === undefined) return 0;
  return connection.write(() => {
    connection
      .sql(`INSERT INTO orphaned_files SELECT DISTINCT hash FROM tracked_pages WHERE ${which} ON CONFLICT DO NOTHING`)
      .run(before, limit);
    // The files are deleted next.
    connection.dialect.outliveCrash(connection);
    return Number(connection.sql(`DELETE FROM tracked_pages WHERE ${which}`).run(before, limit).changes);
  });
}
