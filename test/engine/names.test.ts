import assert from "node:assert/strict";
import { test } from "node:test";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import { ticketId } from "../../src/engine/bullmq/names.ts";

test("the id that BullMQ shows for a step is the one that the API finds it by", () => {
  for (const lane of [
    laneOfStep("0193c0de-0000-7000-8000-000000000001", 3),
    laneOfStep("0193c0de-0000-7000-8000-000000000001", 3, 0),
  ])
    assert.equal(ticketId(lane), lane);
});

test("ids of tickets have no colon, however a site is called", () => {
  assert.doesNotMatch(ticketId("site:a.example:8080"), /:/);
  assert.notEqual(ticketId("site:a.example"), ticketId("site:b.example"));
});
