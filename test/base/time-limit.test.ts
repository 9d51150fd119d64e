import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LimitExceeded, withTimeLimit } from "../../src/base/time-limit.ts";

describe("a limit on the time that a library takes", () => {
  test("stops what goes on for ever [slow]", () => {
    const endless = () => {
      for (;;);
    };
    assert.throws(() => withTimeLimit(endless), LimitExceeded);
  });

  test("counts the time of the processor: what did not run in its second gets another", () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    let begun = 0;
    const starved = () => {
      begun += 1;
      // Stands still, as a thread does that the machine does not let run.
      if (begun === 1) for (let n = 0; n < 200; n += 1) Atomics.wait(cell, 0, 0, 10);
      return "done";
    };
    assert.equal(withTimeLimit(starved), "done");
    assert.equal(begun, 2);
  });

  test("gives what the work gives, and its own errors", () => {
    assert.equal(
      withTimeLimit(() => 7),
      7,
    );
    assert.throws(() => withTimeLimit(() => JSON.parse("{")), SyntaxError);
  });
});
