import assert from "node:assert/strict";
import { test } from "node:test";
import { readSolved } from "../../src/lanes/handlers/solver.ts";

const read = (answer: unknown) => readSolved(answer, "https://a.example");

test("a solver gives cookies as a list or by their names", () => {
  for (const cookies of [
    { clearance: "1", other: "2" },
    [
      { name: "clearance", value: "1" },
      { name: "other", value: "2" },
    ],
  ]) {
    const { found, refused } = read({ cookies, local_storage: { token: "t" } });
    assert.deepEqual(
      found?.cookies.map(({ name, value }) => [name, value]),
      [
        ["clearance", "1"],
        ["other", "2"],
      ],
    );
    assert.deepEqual([found?.localStorage, refused], [[{ name: "token", value: "t" }], []]);
  }
});

test("what a solver gives in another form is refused by its name, and never shown", () => {
  const { found, refused } = read({
    cookies: { good: "1", bad: 7, "two words": "secret" },
    headers: ["secret"],
    local_storage: "secret",
    cookie: "secret",
  });
  assert.deepEqual(found?.cookies, [{ name: "good", value: "1" }]);
  assert.deepEqual(
    refused.map((line) => line.split(":")[0]),
    ["cookie", "cookies.bad", "cookies.two words", "local_storage", "headers"],
  );
  assert.ok(!refused.join().includes("secret"));
  assert.deepEqual(
    [read("clearance=1").refused.length, read(undefined), read(null)],
    [1, { found: null, refused: [] }, { found: null, refused: [] }],
  );
});
