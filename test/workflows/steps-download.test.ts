import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildEnd, ChildRun, Item, StepContext } from "../../src/workflows/step-kind.ts";
import { downloadStep } from "../../src/workflows/steps/download.ts";
import { gathered, StepHarness } from "./step-kit.ts";

/** A run of downloads that has ended; addresses that end with `lost` gave nothing. */
function endOf({ urls }: Extract<ChildRun, { kind: "download" }>, runId: string): ChildEnd {
  return {
    runId,
    status: "completed",
    message: null,
    failure: null,
    counts: {},
    async *results() {},
    async *failures() {},
    async *downloads() {
      for (const { url, data } of urls) {
        const file = { id: `id of ${url}`, hash: "ab".repeat(32), size: 1, contentType: null, url };
        yield url.endsWith("lost") ? { url, data, file: null, error: "it is lost" } : { url, data, file, error: null };
      }
    },
  };
}

test("very many addresses are downloaded run after run, each once, and come out in order", async () => {
  await using harness = new StepHarness();
  const addresses = Array.from({ length: 6000 }, (_, n) => `https://a.example/${n}${n % 1000 === 7 ? "lost" : ""}`);
  // Every address twice, and one that is none.
  const inputs: Item[] = [
    ...addresses.map((url, n) => ({ url, n })),
    { url: "nonsense" },
    ...addresses.map((url) => ({ url, again: true })),
  ];
  const children: ChildEnd[] = [];
  let read = 0;
  const counted = () => {
    read += 1;
    return harness.context({ inputs }).inputs();
  };
  const begun = { ...harness.context({ inputs }), inputs: counted };
  let context: StepContext = begun;
  for (;;) {
    const end = await downloadStep.run(context, {});
    if (end.kind === "wait") {
      const child = end.child as Extract<ChildRun, { kind: "download" }>;
      assert.ok(child.urls.length <= 5000);
      children.push(endOf(child, `run ${children.length}`));
      assert.equal(read, 1, "what comes in is gone through once for all runs");
      context = { ...begun, memory: end.memory, child: children.at(-1)!, children: [...children] };
      continue;
    }
    assert.equal(end.kind, "done");
    const items: Item[] = [];
    for await (const item of end.items ?? []) items.push(item);
    assert.equal(children.length, 2);
    assert.deepEqual(end.output, { downloaded: 5994, failed: 7 });
    assert.deepEqual(
      items.map(({ url }) => url),
      addresses.filter((url) => !url.endsWith("lost")),
    );
    assert.ok(
      items.every(({ n, again }) => n !== undefined && again === undefined),
      "the first of two is taken",
    );
    const failed = (await harness.read(end.files![0]!.hash)).toString().trim().split("\n");
    assert.equal(failed.length, 7);
    assert.deepEqual(JSON.parse(failed[0]!), { url: "nonsense", error: "is not an http or https URL" });
    return;
  }
});

test("addresses in lists and inside of objects are found, relative ones on the page they come from", async () => {
  await using harness = new StepHarness();
  const inputs: Item[] = [
    { url: "https://a.example/dir/page", pictures: [{ src: "1.png" }, { src: "/2.png" }] },
    { url: "https://b.example/", pictures: [{ src: "https://c.example/3.png" }, { alt: "none" }] },
    { url: "https://b.example/empty" },
  ];
  const end = await downloadStep.run(harness.context({ inputs }), { field: "pictures.src" });
  assert.ok(end.kind === "wait" && end.child?.kind === "download");
  assert.deepEqual(
    end.child.urls.map(({ url }) => url),
    ["https://a.example/dir/1.png", "https://a.example/2.png", "https://c.example/3.png"],
  );
});

test("a page full of pictures is not repeated for each of them", async () => {
  await using harness = new StepHarness();
  const pictures = Array.from({ length: 2000 }, (_, n) => ({ src: `/pictures/${n}.png`, alt: `number ${n}` }));
  const inputs: Item[] = [{ url: "https://a.example/", fields: { title: "All of them", pictures } }];
  const first = await downloadStep.run(harness.context({ inputs }), { field: "fields.pictures.src" });
  assert.ok(first.kind === "wait" && first.child?.kind === "download");
  assert.ok(JSON.stringify(first.child.urls).length < 2000 * 100, "a task knows its address, and no other");
  const child = endOf(first.child, "run");
  const context = { ...harness.context({ inputs }), memory: first.memory, child, children: [child] };
  const end = await downloadStep.run(context, { field: "fields.pictures.src" });
  assert.ok(end.kind === "done");
  const items = await gathered<Item>(end.items ?? []);
  assert.equal(items.length, 2000);
  const { url, source_url: page, fields } = items[17]!;
  assert.deepEqual([url, page], ["https://a.example/pictures/17.png", "https://a.example/"]);
  assert.deepEqual(fields, { title: "All of them", pictures: { src: "/pictures/17.png", alt: "number 17" } });
});

test("very long addresses are spread over more runs, and a list that was swept away is made again", async () => {
  await using harness = new StepHarness();
  const urls = Array.from({ length: 300 }, (_, n) => `https://a.example/${"long/".repeat(1500)}${n}`);
  const taken: string[] = [];
  const begun = harness.context();
  const files = { ...begun.files, has: async () => false };
  let context: StepContext = begun;
  for (;;) {
    const end = await downloadStep.run(context, { urls });
    if (end.kind !== "wait") break;
    const { urls: wanted } = end.child as Extract<ChildRun, { kind: "download" }>;
    assert.ok(wanted.length < 150);
    taken.push(...wanted.map(({ url }) => url));
    context = { ...begun, files, memory: end.memory };
  }
  assert.deepEqual(taken, urls);
});
