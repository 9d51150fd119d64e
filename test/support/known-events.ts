import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type EventKind, EVENTS } from "../../src/domain/run/event-catalogue.ts";

interface EventRow {
  type: string | null;
  message: string;
  level: EventKind["levels"][number];
  meta: string | null;
}

/** Every event in the log of a run is described in docs/events.md: its type, its level, the keys of its meta. */
export function holdEventsToCatalogue(database: string): void {
  using connection = new DatabaseSync(database, { readOnly: true });
  const rows = connection.prepare("SELECT DISTINCT type, message, level, meta FROM events LIMIT 5000").all();
  for (const row of rows as unknown as EventRow[]) holdEventToCatalogue(row);
}

export function holdEventToCatalogue({ type, message, level, meta }: EventRow): void {
  const kind = (EVENTS as Record<string, EventKind>)[type ?? ""];
  const shown = JSON.stringify({ type, level, message, meta });
  assert.ok(
    kind !== undefined && type !== "event.unknown",
    `src/domain/run/event-catalogue.ts lacks the type of ${shown}`,
  );
  const keys = Object.keys((meta === null ? null : JSON.parse(meta)) ?? {});
  const isDescribed = kind.levels.includes(level) && keys.every((key) => kind.meta.includes(key));
  assert.ok(
    isDescribed,
    `src/domain/run/event-catalogue.ts describes another level or other keys of meta than ${shown}`,
  );
}
