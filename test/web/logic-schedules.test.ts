import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Chosen,
  cronOf,
  localWords,
  presetNote,
  presetOf,
  USUAL,
} from "../../web/src/pages/schedules/schedule-presets.ts";

test("each preset is an expression, and the expression is that preset again", () => {
  const chosen: [Partial<Chosen> & Pick<Chosen, "preset">, string][] = [
    [{ preset: "none" }, ""],
    [{ preset: "hourly", minute: "15" }, "15 * * * *"],
    [{ preset: "daily", time: "06:05" }, "5 6 * * *"],
    [{ preset: "weekdays", time: "23:59" }, "59 23 * * 1-5"],
    [{ preset: "weekly", time: "00:00", weekday: "0" }, "0 0 * * 0"],
    [{ preset: "monthly", time: "12:30", day: "31" }, "30 12 31 * *"],
  ];
  for (const [choice, cron] of chosen) {
    assert.equal(cronOf({ ...USUAL, ...choice }), cron);
    assert.deepEqual(presetOf(cron), { ...USUAL, ...choice });
  }
});

test("what no preset says is custom", () => {
  for (const cron of [
    "*/5 * * * *",
    "0 6 * * 1,3",
    "0 6 1 1 *",
    "0 0 6 * * *",
    "99 6 * * *",
    "0 25 * * *",
    "not a cron",
  ])
    assert.equal(presetOf(cron).preset, "custom", cron);
  assert.equal(presetOf("0 6 * * 7").weekday, "0", "Sunday has two numbers");
});

test("days that some months lack are said", () => {
  assert.equal(presetNote({ ...USUAL, preset: "monthly", day: "28" }), null);
  assert.match(presetNote({ ...USUAL, preset: "monthly", day: "31" }) ?? "", /Months without a day 31/);
});

test("a next run is shown by the clocks of its zone, wherever the browser is", () => {
  assert.equal(localWords("2026-03-30T06:00:00+02:00"), "Mon 30 Mar 2026, 06:00 (+02:00)");
  assert.equal(localWords("2026-03-30T06:00:30+00:00"), "Mon 30 Mar 2026, 06:00:30 (UTC)");
});
