/** Named filters, stored in the browser. */
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

/** The stored text may be of another version, or edited by hand. */
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

/** Replaces a view of the same name. */
export function addView(views: readonly SavedView[], name: string, filter: RunFilter): SavedView[] {
  const short = name.trim().slice(0, LONGEST_NAME);
  if (short === "") return [...views];
  return [...views.filter((view) => view.name !== short), { name: short, filter }].slice(-MOST);
}

export function removeView(views: readonly SavedView[], name: string): SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** The view that matches the current filter, if any. */
export function currentView(views: readonly SavedView[], filter: RunFilter): SavedView | null {
  return views.find((view) => isSame(view.filter, filter)) ?? null;
}
