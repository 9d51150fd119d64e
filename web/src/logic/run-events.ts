/** The timeline of a run. */
import type { Operations } from "../api/types.ts";

export type EventType = Operations["listEvents"]["answer"][number]["type"];

export interface RunEvent {
  id: string;
  run_id: string;
  type: EventType;
  level: "info" | "warn" | "error";
  message: string;
  meta: Record<string, unknown>;
  created_at: string;
}

/** Whether the run itself changed, rather than a task or a site of it. */
export const isOfRun = (type: EventType): boolean => type.startsWith("run.") || type === "extraction.degraded";

/** At most this many are kept; `orb runs events --follow` lists all of them. */
export const MOST_EVENTS = 20_000;

/** The newest events of a run, oldest first, without duplicates. */
export interface EventList {
  list: readonly RunEvent[];
  /** Ids of the list. Mutated with it, because rebuilding it for every event costs more than all the rest. */
  ids: Set<string>;
  /** Including dropped events. */
  total: number;
}

export const noEvents = (): EventList => ({ list: [], ids: new Set(), total: 0 });

/** Adds the new ones of `more` to `known`: the same event may come from the list and from the stream. */
export function withEvents(known: EventList, more: readonly RunEvent[], most = MOST_EVENTS): EventList {
  const { ids } = known;
  const fresh = more.filter(({ id }) => !ids.has(id) && ids.add(id));
  if (fresh.length === 0) return known;
  const all = [...known.list, ...fresh];
  const dropped = all.splice(0, Math.max(0, all.length - most));
  for (const { id } of dropped) ids.delete(id);
  return { list: all, ids, total: known.total + fresh.length };
}

export type LevelChoice = "all" | "warn" | "error";

export function shownEvents(
  events: readonly RunEvent[],
  { level, text }: { level: LevelChoice; text: string },
): RunEvent[] {
  const wanted = text.trim().toLowerCase();
  return events.filter((event) => {
    if (level === "error" && event.level !== "error") return false;
    if (level === "warn" && event.level === "info") return false;
    if (wanted === "") return true;
    return [event.message, event.type, JSON.stringify(event.meta)].some((words) =>
      words.toLowerCase().includes(wanted),
    );
  });
}

/** Time of day with milliseconds. */
export function clockTime(at: string): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
