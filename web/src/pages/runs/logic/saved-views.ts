/** Filters that people have given a name, kept in their browser. */
import { isSame, NO_FILTER, readFilter, type RunFilter, writeFilter } from "./run-filter.ts";

export interface SavedView {
  name: string;
  filter: RunFilter;
}

export const BUILT_IN: readonly SavedView[] = [
  { name: "All", filter: NO_FILTER },
  { name: "Active", filter: { ...NO_FILTER, status: ["queued", "running", "recovering"] } },
  { name: "Needs you", filter: { ...NO_FILTER, status: ["paused", "waiting_for_human"] } },
  { name: "Failed", filter: { ...NO_FILTER, status: ["partial", "failed"] } },
];

const LONGEST_NAME = 60;
const MOST = 30;

/** What was stored may be of another version, or of somebody's hand. */
export function readViews(stored: string | null): SavedView[] {
  try {
    const list: unknown = JSON.parse(stored ?? "[]");
    if (!Array.isArray(list)) return [];
    return list.slice(0, MOST).flatMap((entry: unknown): SavedView[] => {
      const { name, search } = (entry ?? {}) as { name?: unknown; search?: unknown };
      if (typeof name !== "string" || typeof search !== "string" || name.trim() === "") return [];
      return [{ name: name.slice(0, LONGEST_NAME), filter: readFilter(new URLSearchParams(search)) }];
    });
  } catch {
    return [];
  }
}

export function writeViews(views: readonly SavedView[]): string {
  return JSON.stringify(views.map(({ name, filter }) => ({ name, search: writeFilter(filter) })));
}

/** One of the same name is replaced. */
export function addView(views: readonly SavedView[], name: string, filter: RunFilter): SavedView[] {
  const short = name.trim().slice(0, LONGEST_NAME);
  if (short === "") return [...views];
  return [...views.filter((view) => view.name !== short), { name: short, filter }].slice(-MOST);
}

export function removeView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** The view that is looked at now, if it is one. */
export function currentView(views: readonly SavedView[], filter: RunFilter): SavedView | null {
  return views.find((view) => isSame(view.filter, filter)) ?? null;
}
