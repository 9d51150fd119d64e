import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { fullId } from "../../src/orchestrator/short-ids.ts";

const IDS = ["1", "2", "3", "4", "5", "6", "7"].map((n) => `6e7b1ba8-4435-4c6b-8949-d6a8ba361c9${n}`);
const storeOf = (ids: readonly string[]) => ({
  store: {
    idsFrom: async (_: string, beginning: string, limit: number) =>
      ids.filter((id) => id.startsWith(beginning)).slice(0, limit),
    runs: async () => assert.fail("nobody asked for the newest"),
  },
});

test("a beginning that several ids have is refused with what could be meant", async () => {
  for (const [many, shown] of [
    [2, /^several ids begin with 6e7b1ba8: 6e7b1ba8-\S+1, 6e7b1ba8-\S+2$/],
    [7, /5 and more$/],
  ] as const)
    await assert.rejects(fullId(storeOf(IDS.slice(0, many)), "run", "6e7b1ba8"), (error) => {
      assert.ok(isOrbError(error, "input_invalid"));
      assert.match(error.message, shown);
      return true;
    });
  assert.equal(await fullId(storeOf(IDS), "run", IDS[3]!.slice(0, -1) + "4"), IDS[3]);
});

test("what is whole, or can be no beginning, is not looked for", async () => {
  const nobody = { store: { idsFrom: () => assert.fail("it was looked for"), runs: () => assert.fail("so was this") } };
  for (const text of [IDS[0]!, "6e7b1", "6e7b1-4435", "not an id", "", "6e7b1ba8-4435-4c6b-8949-d6a8ba361c911"])
    assert.equal(await fullId(nobody, "run", text), text);
});
