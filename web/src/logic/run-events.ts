/** The timeline of a run: what is kept and shown of it. */
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

/** Whether the run itself changed, and not only a task or a site of it. */
export const isOfRun = (type: EventType): boolean => type.startsWith("run.");

/** So many are kept of a run; `orb runs events --follow` lists them all. */
export const MOST_EVENTS = 20_000;

/** The newest events of a run, oldest first, each once. */
export interface EventList {
  list: readonly RunEvent[];
  /** Of all in the list; it grows with it, because making it anew for every event costs more than all the rest. */
  ids: Set<string>;
  /** With those that are not kept any more. */
  total: number;
}

export const noEvents = (): EventList => ({ list: [], ids: new Set(), total: 0 });

/** `known` goes on with those of `more` that are new: the same event may come from the list and from the stream. */
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

/** The time of day, to the millisecond: things happen quickly. */
export function clockTime(at: string): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
