import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../web/src/logic/format.ts";
import { isDue, whenWords, whyWords } from "../../web/src/logic/waiting.ts";

const table = <T>(say: (value: T) => string, rows: readonly (readonly [T, string])[]) => {
  for (const [value, words] of rows) assert.equal(say(value), words, String(value));
};

test("numbers are short, and never round up to what they are not", () => {
  table(format.shortNumber, [
    [0, "0"],
    [7, "7"],
    [1234, "1,234"],
    [9999, "9,999"],
    [10_000, "10k"],
    [12_345, "12.3k"],
    [999_999, "1M"],
    [1_000_000, "1M"],
    [4_560_000, "4.56M"],
    [0.25, "0.25"],
    [Number.NaN, "–"],
  ]);
  table(format.percent, [
    [1, "100 %"],
    [0.9996, "> 99.9 %"],
    [0.987, "98.7 %"],
    [0.5, "50 %"],
    [0.0004, "< 0.1 %"],
    [0, "0 %"],
  ]);
  table(format.rate, [
    [0, "0/s"],
    [0.05, "3/min"],
    [4.26, "4.3/s"],
    [480.4, "480/s"],
  ]);
  table(format.bytes, [
    [0, "0 B"],
    [999, "999 B"],
    [1500, "1.5 KB"],
    [25_000_000, "25 MB"],
    [3.2e12, "3.2 TB"],
  ]);
});

test("times have at most two units, and say what people say", () => {
  table(format.duration, [
    [340, "340 ms"],
    [4210, "4.2 s"],
    [12_000, "12 s"],
    [200_000, "3m 20s"],
    [3_600_000, "1h"],
    [7_500_000, "2h 5m"],
    [356_400_000, "4d 3h"],
  ]);
  table(format.eta, [
    [null, ""],
    [2, "a moment left"],
    [41, "45 s left"],
    [130, "3 min left"],
    [4000, "1h 7m left"],
  ]);
  const now = Date.parse("2026-05-05T12:00:00Z");
  table(
    (at: number) => format.relativeTime(at, now),
    [
      [now - 2000, "just now"],
      [now - 30_000, "30 s ago"],
      [now + 120_000, "in 2 min"],
      [now - 3 * 3_600_000, "3 h ago"],
      [now - 30 * 3_600_000, "yesterday"],
      [now - 3 * 86_400_000, "3 days ago"],
      [now - 40 * 86_400_000, "Mar 26"],
      [now - 400 * 86_400_000, "Mar 31, 2025"],
    ],
  );
});

test("long addresses lose their middle, not their end", () => {
  assert.equal(format.shorten("short", 10), "short");
  const cut = format.shorten("example.com/a/very/long/path/to/item-4711.html", 24);
  assert.equal(cut.length, 24);
  assert.ok(cut.startsWith("example.com") && cut.endsWith("4711.html"), cut);
  assert.equal(format.plainUrl("https://www.example.com/"), "example.com");
  assert.equal(format.sentence("connection_refused"), "Connection refused");
  assert.equal(format.sentence("http_server_error"), "HTTP server error");
});

test("what waits says why, and then when it goes on", () => {
  const at = Date.parse("2026-11-15T22:18:14Z");
  const said = (reason: string, message: string, until: string | null, now = at - 3000) => {
    const waits = { reason, message, until };
    return [whyWords(waits), whenWords(waits, now)];
  };
  const until = new Date(at).toISOString();
  assert.deepEqual(said("circuit_open", "Circuit open until 2026-11-15 22:18:14 UTC", until, at - 240_000), [
    "Circuit open",
    "next probe in 4 min",
  ]);
  assert.deepEqual(said("min_delay", "Paced: 5 s between requests", until), [
    "Paced: 5 s between requests",
    "next request in 3 s",
  ]);
  const failed = "What is left waits for another try at 2026-11-15 22:18:14 UTC";
  assert.deepEqual(said("retry", failed, until), ["What is left waits for another try", "retries in 3 s"]);
  assert.deepEqual(said("retry", "Retrying", null), ["Retrying", null]);
  assert.deepEqual(said("min_delay", "Paced", until, at + 1), ["Paced", null], "the time has come");
});

test("what has happened is never said to come, though the clock that is shown is late", () => {
  assert.equal(format.shownTime(10_000, 5000, 10_100), "just now");
  assert.equal(format.shownTime(10_000, 30_000, 31_000), "20 s ago");
  assert.equal(format.shownTime(40_000, 5000, 10_000), "in 35 s");
});

test("an attempt whose time has come waits for its site, not for a time that is over", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  assert.equal(isDue("2026-01-01T11:59:00Z", now), true);
  assert.equal(isDue("2026-01-01T12:00:10Z", now), false);
});
