import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { eventKindOf } from "../../src/domain/event-catalogue.ts";

/** Whatever stands in the log of a run is described in docs/events.md: how it begins, its level, the keys of its meta. */
export function holdEventsToCatalogue(database: string): void {
  using connection = new DatabaseSync(database, { readOnly: true });
  const rows = connection.prepare("SELECT DISTINCT message, level, meta FROM events LIMIT 5000").all();
  for (const { message, level, meta } of rows as { message: string; level: "info"; meta: string | null }[]) {
    const kind = eventKindOf(message);
    assert.ok(kind !== undefined, `src/domain/event-catalogue.ts does not know the event "${message}"`);
    const keys = Object.keys((meta === null ? null : JSON.parse(meta)) ?? {});
    const isTold = kind.levels.includes(level) && keys.every((key) => kind.meta.includes(key));
    assert.ok(isTold, `src/domain/event-catalogue.ts, ${kind.begins}: ${JSON.stringify({ message, level, meta })}`);
  }
}
