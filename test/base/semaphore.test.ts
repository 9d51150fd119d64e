import assert from "node:assert/strict";
import { test } from "node:test";
import { Semaphore } from "../../src/base/semaphore.ts";

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("callers wait in the order in which they came, even those that would fit", async () => {
  const semaphore = new Semaphore(10);
  const first = await semaphore.acquire({ permits: 6 });
  const order: string[] = [];
  const large = semaphore.acquire({ permits: 10 }).then((permit) => (order.push("large"), permit));
  const small = semaphore.acquire().then((permit) => (order.push("small"), permit));
  await soon();
  assert.deepEqual([order, semaphore.waiting], [[], 2]);
  first[Symbol.dispose]();
  (await large)[Symbol.dispose]();
  (await small)[Symbol.dispose]();
  assert.deepEqual([order, semaphore.waiting], [["large", "small"], 0]);
});

test("a caller that is aborted leaves the line, and those behind it may go on", async () => {
  const semaphore = new Semaphore(2);
  using _held = await semaphore.acquire();
  const stop = new AbortController();
  const large = semaphore.acquire({ permits: 2, signal: stop.signal });
  const small = semaphore.acquire();
  stop.abort(new Error("stopped"));
  await assert.rejects(large, /stopped/);
  (await small)[Symbol.dispose]();
  await assert.rejects(semaphore.acquire({ signal: stop.signal }), /stopped/);
  assert.equal(semaphore.waiting, 0);
});

test("a permit that is disposed twice is released once", async () => {
  const semaphore = new Semaphore(1);
  const permit = await semaphore.acquire();
  permit[Symbol.dispose]();
  permit[Symbol.dispose]();
  using _held = await semaphore.acquire();
  const stop = new AbortController();
  const next = semaphore.acquire({ signal: stop.signal });
  await soon();
  assert.equal(semaphore.waiting, 1);
  stop.abort(new Error("stopped"));
  await assert.rejects(next, /stopped/);
});

test("work that fails releases its permit", async () => {
  const semaphore = new Semaphore(1);
  await assert.rejects(
    semaphore.run(() => Promise.reject(new Error("failed"))),
    /failed/,
  );
  assert.equal(await semaphore.run(async () => 1), 1);
});
