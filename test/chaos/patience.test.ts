import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertStored, Orb, report } from "./orb.ts";
import { bodyOf, Target } from "./target.ts";

describe("a site that asks for patience", { concurrency: 3 }, () => {
  for (const [seconds, limitMs] of [
    ["0", 25_000],
    ["1", 26_000],
    ["2", 27_000],
  ] as const) {
    test(`with Retry-After: ${seconds} is asked again after that time, also when nothing else is to be done`, async () => {
      await using target = await Target.start(1);
      await using orb = new Orb();
      target.script = (path, nth) =>
        nth === 1 ? { status: 429, body: "later", headers: { "retry-after": seconds } } : { body: bodyOf(path) };
      await orb.import([{ artifact_id: "a", url: target.url("/a") }]);
      const { code, stderr } = await orb.run(["queue", "run", "--drain"]);
      assert.equal(code, 0, stderr);
      const [first, second] = target.hits;
      const waited = (second?.start ?? 0) - (first?.end ?? 0);
      report(`Retry-After: ${seconds}`, { "asked again after ms": waited });
      assert.ok(waited >= Number(seconds) * 1000 - 50, `it waited only ${waited} ms`);
      assert.ok(waited <= limitMs, `it waited ${waited} ms`);
      const item = (await orb.items()).get("a");
      assertStored(item, bodyOf("/a"), "a");
      assert.equal(item?.tries, 1);
      await orb.audit();
    });
  }
});
