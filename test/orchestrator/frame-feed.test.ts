import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Frame, FrameFeed } from "../../src/orchestrator/live-views/frame-feed.ts";

const frame = (text: string): Frame => ({ jpeg: Buffer.from(text), width: 1, height: 1 });

describe("the frames of a live view", () => {
  test("a slow viewer gets the newest frame after each one that it has drawn, and a fast one gets all", () => {
    const feed = new FrameFeed<string>();
    const seen: Record<string, [number, string][]> = { slow: [], fast: [] };
    for (const key of ["slow", "fast"])
      feed.add(key, (seq, { jpeg }) => {
        seen[key]?.push([seq, String(jpeg)]);
        if (key === "fast") feed.drawn(key, seq);
      });
    for (const text of ["a", "b", "c"]) feed.offer(frame(text));
    assert.deepEqual(seen["slow"], [[1, "a"]], "one is on its way, and no more");
    assert.deepEqual(
      seen["fast"]?.map(([, text]) => text),
      ["a", "b", "c"],
    );
    feed.drawn("slow", 1);
    assert.deepEqual(seen["slow"], [
      [1, "a"],
      [3, "c"],
    ]);
    feed.drawn("slow", 1);
    feed.drawn("slow", 99);
    feed.offer(frame("d"));
    assert.equal(seen["slow"]?.length, 2, "what it did not draw is not confirmed");
    feed.drawn("slow", 3);
    assert.deepEqual(seen["slow"]?.at(-1), [4, "d"]);
  });

  test("who comes later sees the page as it is, and who left gets nothing", () => {
    const feed = new FrameFeed<string>();
    feed.offer(frame("a"));
    assert.equal(feed.isWatched, false);
    const seen: number[] = [];
    feed.add("late", (seq) => {
      seen.push(seq);
    });
    assert.deepEqual(seen, [1]);
    feed.remove("late");
    feed.drawn("late", 1);
    feed.offer(frame("b"));
    assert.deepEqual([seen, feed.isWatched], [[1], false]);
  });
});
