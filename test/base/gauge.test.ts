import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { processGauge } from "../../src/base/gauge.ts";

test("a process that is busy with one thing is late with others, and the next look starts anew", async () => {
  const gauge = processGauge();
  try {
    await pause(120);
    gauge.read();
    const busyUntil = performance.now() + 1000;
    while (performance.now() < busyUntil);
    await pause(120);
    const { lagMs, memory } = gauge.read();
    assert.ok(lagMs > 100, `${lagMs} ms late`);
    assert.ok(memory > 0 && memory < 1, `${memory} of the memory in use`);
    assert.equal(gauge.read().lagMs, 0, "nothing was measured since");
  } finally {
    gauge.stop();
  }
});
