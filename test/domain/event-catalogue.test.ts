import assert from "node:assert/strict";
import { readFile, glob } from "node:fs/promises";
import { test } from "node:test";
import { EVENT_TYPES, EVENTS } from "../../src/domain/run/event-catalogue.ts";

const ROOT = new URL("../../", import.meta.url);
/** They name types, and write no events. */
const READERS = /^src\/(?:domain\/event-catalogue|store\/sql\/event-type-of-message|api-client\/operations)\.ts$/;

test("every type of the catalogue is written somewhere", async () => {
  const sources: string[] = [];
  for await (const path of glob("src/**/*.ts", { cwd: ROOT }))
    if (!READERS.test(path)) sources.push(await readFile(new URL(path, ROOT), "utf8"));
  // As an event has it, or as one of several that are chosen from.
  const isWritten = (type: string) =>
    sources.some((text) =>
      [`: "${type}"`, `? "${type}"`, `return "${type}"`, `"${type}": "`].some((way) => text.includes(way)),
    );
  assert.deepEqual(
    EVENT_TYPES.filter((type) => !isWritten(type)),
    // Of events that other versions have written.
    ["event.unknown"],
  );
});

test("types are named subject.what_happened, and have a level and a sentence", () => {
  for (const [type, { levels, meaning }] of Object.entries(EVENTS)) {
    assert.match(type, /^[a-z]+(?:_[a-z]+)*\.[a-z]+(?:_[a-z]+)*$/);
    assert.ok(levels.length > 0 && /^[A-Z].*\.$/.test(meaning), type);
  }
});
