/** The timeline of a run: what is shown of it. */

export interface RunEvent {
  id: string;
  run_id: string;
  level: "info" | "warn" | "error";
  message: string;
  meta: Record<string, unknown>;
  created_at: string;
}

/** Each once, oldest first: the same event may come from the list and from the stream. */
export function withEvents(known: readonly RunEvent[], more: readonly RunEvent[]): readonly RunEvent[] {
  const ids = new Set(known.map(({ id }) => id));
  const fresh = more.filter(({ id }) => !ids.has(id));
  return fresh.length === 0 ? known : [...known, ...fresh];
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
    return event.message.toLowerCase().includes(wanted) || JSON.stringify(event.meta).toLowerCase().includes(wanted);
  });
}

/** The time of day, to the millisecond: things happen quickly. */
export function clockTime(at: string): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
