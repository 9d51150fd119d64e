/** Lists of runs with live updates. */

export interface RunCounts {
  queued: number;
  running: number;
  retrying: number;
  completed: number;
  failed: number;
  skipped: number;
}

interface Row {
  id: string;
  created_at: string;
}

/**
 * Applies updates to pages of a list, newest first: changes existing rows in place and inserts new ones within the
 * loaded range. `belongs` selects the new rows that match.
 */
export function withRows<R extends Row, P extends { rows: R[]; next: string | null }>(
  pages: readonly P[],
  changed: readonly R[],
  belongs: (row: R) => boolean,
): P[] {
  if (pages.length === 0 || changed.length === 0) return [...pages];
  const byId = new Map(changed.map((row) => [row.id, row]));
  const next = pages.map((page) => {
    if (!page.rows.some(({ id }) => byId.has(id))) return page;
    const rows = page.rows.map((row) => {
      const live = byId.get(row.id);
      if (live === undefined) return row;
      byId.delete(row.id);
      return { ...row, ...live };
    });
    return { ...page, rows };
  });
  // If more pages follow, older rows come with them; in a complete list nothing else would bring them.
  const end = next.at(-1);
  const oldest = end === undefined || end.next === null ? "" : (end.rows.at(-1)?.created_at ?? "");
  const fresh = [...byId.values()].filter((row) => belongs(row) && row.created_at >= oldest);
  if (fresh.length === 0) return next;
  // Goes into the first page that reaches back far enough, or the last one.
  const pageOf = ({ created_at }: R) => {
    const index = next.findIndex(({ rows }) => (rows.at(-1)?.created_at ?? "") <= created_at);
    return index < 0 ? next.length - 1 : index;
  };
  return next.map((page, index) => {
    const more = fresh.filter((row) => pageOf(row) === index);
    if (more.length === 0) return page;
    return { ...page, rows: [...more, ...page.rows].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)) };
  });
}

/** The most active runs in one event of the stream. */
const MOST_STREAMED = 20;

/** Whether insertions made the list far longer than what was loaded: `size` rows per page. */
export function hasGrown(pages: readonly { rows: readonly Row[] }[], size: number): boolean {
  return pages.reduce((sum, { rows }) => sum + rows.length, 0) > (pages.length + 1) * size;
}

/** Whether more runs are active than the stream sends: the others are as old as the list. */
export function isPartial(
  pages: readonly { rows: readonly { status: string }[] }[],
  isActive: (status: string) => boolean,
): boolean {
  return pages.reduce((sum, { rows }) => sum + rows.filter(({ status }) => isActive(status)).length, 0) > MOST_STREAMED;
}

/** Toggles a row's selection; with shift all rows between the last one and this. */
export function choose(
  chosen: ReadonlySet<string>,
  ids: readonly string[],
  id: string,
  { last, range }: { last: string | null; range: boolean },
): Set<string> {
  const next = new Set(chosen);
  const on = !chosen.has(id);
  const [from, to] = [ids.indexOf(range && last !== null ? last : id), ids.indexOf(id)];
  const between = from < 0 || to < 0 ? [id] : ids.slice(Math.min(from, to), Math.max(from, to) + 1);
  for (const rowId of between)
    if (on) next.add(rowId);
    else next.delete(rowId);
  return next;
}
