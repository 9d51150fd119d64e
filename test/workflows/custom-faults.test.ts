import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { failureOf } from "../support/net.ts";
import { CustomStepHarness } from "./custom-kit.ts";

/** What a user might write, and should not. */
const MODULE = `
const hoard = [];
const step = (kind, run, more = {}) => ({ kind, params: { type: "object" }, run, ...more });

export const steps = [
  step("good", () => ({ well: true })),
  step("throws", () => { throw new Error("this one is broken"); }),
  step("throws-later", () => new Promise(() => { setTimeout(() => { throw new Error("out of band"); }, 10); })),
  step("throws-odd", () => { throw null; }),
  step("refuses", () => { throw Object.assign(new Error("will never work"), { retry: false }); }),
  step("loops", () => { for (;;); }, { timeout: 0.5 }),
  step("never-ends", () => new Promise(() => {}), { timeout: 0.5 }),
  step("redos", () => /^(a+)+$/.test("a".repeat(50) + "!"), { timeout: 0.5 }),
  step("exits", () => { process.exit(0); }),
  step("hoards", () => { for (;;) hoard.push(new Array(10_000).fill(hoard.length).map(String)); }),
  step("floods", (context) => { for (;;) { context.log.info("x".repeat(5000)); context.progress(1, 2, "y".repeat(5000)); } }, { timeout: 1 }),
  step("asks-too-much", async (context) => { await Promise.all(Array.from({ length: 40 }, () => context.save("x"))); }),
  step("circle", () => { const a = {}; a.self = a; return a; }),
  step("returns-a-list", () => [1, 2]),
  step("returns-too-much", () => ({ text: "z".repeat(300_000) })),
  step("saves-nothing", async (context) => { await context.save(undefined); }),
  step("reads-outside", async (context) => { await context.read("../../../etc/passwd"); }),
  step("bad-items", () => ({ items: [{ n: 1 }, "two"] })),
  step("items-that-throw", () => ({ items: (function* () { yield { n: 1 }; throw new Error("in the middle"); })() })),
  step("items-that-exit", () => ({ items: (async function* () { yield { n: 1 }; process.exit(1); })() })),
  step("items-without-end", () => ({ items: (function* () { for (let n = 0; ; n += 1) yield { n, text: "t".repeat(1000) }; })() }), { timeout: 1 }),
  step("waits-for-its-end", (context) => { context.log.info("at it"); return new Promise(() => {}); }),
  step("busy", (context) => { context.log.info("at it"); for (;;); }),
];
`;

const BAD: Record<string, [reason: string, message: RegExp]> = {
  throws: ["handler_threw", /^this one is broken$/],
  "throws-later": ["handler_threw", /out of band/],
  "throws-odd": ["handler_threw", /^null$/],
  refuses: ["handler_refused", /^will never work$/],
  loops: ["handler_timeout", /did not end within 0\.5 s/],
  "never-ends": ["handler_timeout", /did not end within/],
  redos: ["handler_timeout", /did not end within/],
  exits: ["handler_exited", /ended its process/],
  hoards: ["handler_out_of_memory", /memory/],
  floods: ["handler_timeout", /did not end within/],
  "asks-too-much": ["handler_threw", /at most 32 pending calls/],
  circle: ["handler_bad_result", /the output cannot be stored as JSON: .*circular/],
  "returns-a-list": ["handler_bad_result", /a step returns an object, not a list/],
  "returns-too-much": ["handler_bad_result", /the output .* at most 262144 are kept/],
  "saves-nothing": ["handler_threw", /needs bytes or a string/],
  "reads-outside": ["handler_threw", /no stored file/],
  "bad-items": ["handler_bad_result", /an item must be an object, not two/],
  "items-that-throw": ["handler_threw", /in the middle/],
  "items-that-exit": ["handler_exited", /ended its process/],
  "items-without-end": ["handler_timeout", /did not end within/],
};

describe("step kinds that misbehave", () => {
  let harness: CustomStepHarness;
  before(async () => void (harness = await CustomStepHarness.open(MODULE)));
  after(() => harness[Symbol.asyncDispose]());

  test("fail alone, each with its reason, while others end well", async () => {
    const wrong: string[] = [];
    for (const [kind, [reason, message]] of Object.entries(BAD)) {
      // What becomes of the process of a bad one is not the next one's trouble, nor that of one beside it.
      const [failure, beside] = await Promise.all([
        failureOf(harness.run(harness.kind(kind), {})),
        harness.done(harness.kind("good"), {}),
      ]);
      if (failure.reason !== reason || !message.test(failure.message))
        wrong.push(`${kind}: ${failure.reason}: ${failure.message}`);
      assert.deepEqual(beside.output, { well: true });
    }
    assert.deepEqual(wrong, []);
    assert.ok(harness.log.length <= 200, `${harness.log.length} lines of a flood`);
  });

  for (const kind of ["waits-for-its-end", "busy"]) {
    test(`end at once when they are cancelled: ${kind}`, async () => {
      const stop = new AbortController();
      harness.log.length = 0;
      const failed = failureOf(harness.run(harness.kind(kind), {}, { signal: stop.signal }));
      await harness.said("at it");
      stop.abort();
      assert.equal((await failed).reason, "run_cancelled");
      assert.deepEqual((await harness.done(harness.kind("good"), {})).output, { well: true });
    });
  }
});
