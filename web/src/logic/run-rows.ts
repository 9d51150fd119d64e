/** Lists of runs that change while they are looked at. */

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
 * Pages of a list, newest first, with what is new of some rows: those that are there are changed in place, those that
 * belong here and are newer than what was loaded come in at their place. `belongs` says which are new and wanted.
 */
export function withRows<R extends Row, P extends { rows: R[] }>(
  pages: readonly P[],
  changed: readonly R[],
  belongs: (row: R) => boolean,
): P[] {
  if (pages.length === 0 || changed.length === 0) return [...pages];
  const byId = new Map(changed.map((row) => [row.id, row]));
  const next = pages.map((page) => {
    if (!page.rows.some(({ id }) => byId.has(id))) return page;
    const rows = page.rows.map((row) => {
      const told = byId.get(row.id);
      if (told === undefined) return row;
      byId.delete(row.id);
      return { ...row, ...told };
    });
    return { ...page, rows };
  });
  const oldest = next.at(-1)?.rows.at(-1)?.created_at ?? "";
  const fresh = [...byId.values()].filter((row) => belongs(row) && row.created_at >= oldest);
  const [first] = next;
  if (fresh.length === 0 || first === undefined) return next;
  // They are new, so that their place is in the first page in all but name.
  const rows = [...fresh, ...first.rows].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
  return [{ ...first, rows }, ...next.slice(1)];
}

/** Which rows are chosen by a click on a box; with shift all between the last one and this. */
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
  for (const one of between)
    if (on) next.add(one);
    else next.delete(one);
  return next;
}

export const BULK_ACTIONS = ["cancel", "pause", "resume", "retry-failed"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_WORDS: Readonly<Record<BulkAction, { verb: string; done: string; what: string }>> = {
  cancel: {
    verb: "Cancel",
    done: "Cancelled",
    what: "What is under way is stopped; results so far are kept. This cannot be taken back.",
  },
  pause: {
    verb: "Pause",
    done: "Paused",
    what: "Pages under way are finished; nothing new is begun until you resume.",
  },
  resume: { verb: "Resume", done: "Resumed", what: "They go on where they stopped." },
  "retry-failed": {
    verb: "Retry failed pages of",
    done: "Retrying",
    what: "Only what failed is fetched again; ended runs are opened again for it.",
  },
};

/** How many, as the server counts: it stops at ten thousand. */
export function matchedWords(matched: number): string {
  if (matched >= 10_000) return "10,000 or more runs";
  return matched === 1 ? "1 run" : `${new Intl.NumberFormat("en").format(matched)} runs`;
}
