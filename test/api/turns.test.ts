import assert from "node:assert/strict";
import { test } from "node:test";
import { countTurns } from "../support/turns.ts";
import { openTestApi } from "./kit.ts";

test("calls that come at once begin in turns of their own; the health check waits for none of them", async (t) => {
  const turns = countTurns(t);
  const begun: number[] = [];
  const served = await openTestApi(t, {
    routes: [
      (api) => {
        api.get("/long", { config: { role: "viewer" } }, async () => {
          begun.push(turns());
          return {};
        });
      },
    ],
  });
  let answered = 0;
  const calls = Array.from({ length: 40 }, () =>
    served.api.inject({ url: "/long" }).then(({ statusCode }) => {
      assert.equal(statusCode, 200);
      answered += 1;
    }),
  );
  const health = await served.api.inject({ url: "/health" });
  assert.equal(health.statusCode, 200);
  assert.ok(answered < calls.length, "it was answered before the others, which came first");
  await Promise.all(calls);
  assert.equal(new Set(begun).size, calls.length);
});
