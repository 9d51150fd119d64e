import assert from "node:assert/strict";
import { test } from "node:test";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { createQueryReloader } from "../../web/src/api/query-reloader.ts";

/** A query whose answers are given by hand. */
function watched(client: QueryClient, queryKey: readonly unknown[]) {
  const asked: { answer: (value: number) => void; signal: AbortSignal }[] = [];
  const observer = new QueryObserver(client, {
    queryKey,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => new Promise<number>((resolve) => asked.push({ answer: resolve, signal })),
  });
  const stop = observer.subscribe(() => {});
  return { asked, stop, shown: () => observer.getCurrentResult().data };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test("what is told all the time keeps no answer from arriving, and the last of it is asked for", async () => {
  const client = new QueryClient();
  const reloadQueries = createQueryReloader(client);
  const { asked, stop, shown } = watched(client, ["getRun", { id: 1 }]);
  asked[0]!.answer(1);
  await turn();
  for (let round = 1; round <= 3; round += 1) {
    for (let told = 0; told < 5; told += 1) reloadQueries(["getRun", "getCrawl"]);
    await turn();
    assert.equal(asked.length, 2 * round, "the first is asked at once, all others wait for its answer");
    reloadQueries(["getRun"]);
    asked.at(-1)!.answer(10 * round);
    await turn();
    assert.equal(asked.length, 2 * round + 1);
    assert.equal(shown(), 10 * round);
    asked.at(-1)!.answer(10 * round + 1);
    await turn();
    assert.deepEqual([asked.length, shown()], [2 * round + 1, 10 * round + 1], "nobody asks without need");
  }
  assert.ok(asked.every(({ signal }) => !signal.aborted));
  stop();
  client.clear();
});

test("an answer that never comes is asked for anew, once enough is told after a while", async () => {
  const client = new QueryClient();
  let now = 0;
  const reloadQueries = createQueryReloader(client, () => now);
  const { asked, stop, shown } = watched(client, ["getRun", { id: 1 }]);
  asked[0]!.answer(1);
  await turn();
  reloadQueries(["getRun"]);
  for (now = 0; now <= 20_000; now += 5000) reloadQueries(["getRun"]);
  await turn();
  assert.deepEqual(
    asked.map(({ signal }) => signal.aborted),
    [false, true, false],
  );
  asked[2]!.answer(2);
  await turn();
  assert.deepEqual([asked.length, shown()], [3, 2]);
  stop();
  client.clear();
});
