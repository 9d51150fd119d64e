import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import type { Item, RunHistory } from "../../src/workflows/step-kind.ts";
import { archiveStep } from "../../src/workflows/steps/archive.ts";
import { cleanupStep } from "../../src/workflows/steps/cleanup.ts";
import { compareStep } from "../../src/workflows/steps/compare.ts";
import { faultsOf, StepHarness } from "./step-kit.ts";

describe("an archive step", () => {
  it("moves every file of its items once, and hands the items on", async () => {
    await using harness = new StepHarness();
    const text = await harness.file("words and ".repeat(10_000), { name: "text" });
    const noise = await harness.file(randomBytes(50_000), { name: "noise" });
    const inputs = [text, noise, { ...text, name: "again" }, { name: "no file" }, { hash: "0".repeat(64) }];
    const { output, items } = await harness.done(archiveStep, {}, { inputs });
    assert.equal(output["archived"], 2);
    assert.equal(output["missing"], 1);
    assert.equal(output["bytes_before"], 150_000);
    assert.ok(Number(output["bytes_after"]) < 52_000, `${output["bytes_after"]} bytes`);
    assert.deepEqual(items, inputs);
    for (const { hash } of [text, noise]) assert.equal(await harness.artifacts.verify(hash), true);
    assert.deepEqual((await harness.done(archiveStep, {}, { inputs })).output, output, "once more changes nothing");
  });
});

describe("a cleanup step", () => {
  const file = (letter: string) => ({ id: `id-${letter}`, hash: letter.repeat(64) });

  /** The rows of a run; what is dropped is gone. */
  function past(rows: Record<string, { downloads?: string; made?: string }>): RunHistory & { left: () => string } {
    const gone = new Set<string>();
    return {
      async *filesOf(step, which) {
        for (const letter of rows[step]?.[which] ?? "") if (!gone.has(`id-${letter}`)) yield file(letter);
      },
      async drop(ids) {
        const before = gone.size;
        for (const id of ids) gone.add(id);
        const dropped = gone.size - before;
        return { rows: dropped, bytes: dropped * 10 };
      },
      left: () =>
        Object.values(rows)
          .flatMap(({ downloads = "", made = "" }) => [...downloads, ...made])
          .filter((letter) => !gone.has(`id-${letter}`))
          .join(""),
    };
  }

  const outputs = { download: {}, export: {} };
  const named: Item[] = [{ hash: "a".repeat(64) }, { hash: "c".repeat(64) }, { name: "no file" }];

  it("drops downloads that its items do not name, and keeps what steps made", async () => {
    await using harness = new StepHarness();
    const rows = past({ download: { downloads: "abcd", made: "m" }, export: { made: "x" }, later: { downloads: "l" } });
    const setting = { past: rows, inputs: named, outputs };
    const { output, items } = await harness.done(cleanupStep, {}, setting);
    assert.deepEqual(output, { removed: 2, bytes: 20 });
    assert.equal(rows.left(), "acmxl");
    assert.deepEqual(items, named);
    assert.deepEqual((await harness.done(cleanupStep, {}, setting)).output, { removed: 0, bytes: 0 });
  });

  it("counts what it removed itself, not what was gone before", async () => {
    await using harness = new StepHarness();
    const rows = past({ download: { downloads: "abcd" } });
    const overtaken: RunHistory = {
      filesOf: rows.filesOf,
      async drop(ids) {
        await rows.drop(["id-b"]);
        return rows.drop(ids);
      },
    };
    const { output } = await harness.done(cleanupStep, {}, { past: overtaken, inputs: named, outputs });
    assert.deepEqual(output, { removed: 1, bytes: 10 });
  });

  it("drops all of the steps that are named, when nothing is to be kept", async () => {
    await using harness = new StepHarness();
    const rows = past({ download: { downloads: "abcd", made: "m" }, export: { made: "x" } });
    const setting = { past: rows, inputs: named, outputs };
    await harness.done(cleanupStep, { steps: ["download"] }, setting);
    assert.equal(rows.left(), "acx");
    await harness.done(cleanupStep, { steps: ["download"], keep: "nothing" }, setting);
    assert.equal(rows.left(), "x");
    assert.notDeepEqual(faultsOf(cleanupStep, { keep: "all" }), []);
  });
});

describe("a comparison with the last run", () => {
  const offer = (id: number, price: number, more: Item = {}): Item => ({
    url: `https://shop.example/${id}`,
    title: `Thing ${id}`,
    price,
    ...more,
  });

  it("has nothing to tell the first time", async () => {
    await using harness = new StepHarness();
    const inputs = [offer(1, 10), offer(2, 20)];
    const { output, items, files } = await harness.done(compareStep, {}, { inputs });
    const nothing = { changed: 0, added: 0, removed: 0, unchanged: 0, not_read: 0, changes: [] };
    assert.deepEqual(output, { first_run: true, total: 2, duplicates: 0, ...nothing });
    assert.deepEqual(items, inputs);
    assert.deepEqual(files, []);
  });

  it("names what changed, came and went, with the values before and after", async () => {
    await using harness = new StepHarness();
    const before = [offer(1, 10), offer(2, 20), offer(3, 30)];
    const inputs = [offer(4, 40), offer(1, 10, { title: "New name" }), offer(2, 19.5)];
    const setting = { inputs, lastRun: { step: before } };
    const { output, files } = await harness.done(compareStep, { fields: ["price"] }, setting);
    const changes = [
      { kind: "added", url: "https://shop.example/4", title: "Thing 4", key: "https://shop.example/4", fields: {} },
      {
        kind: "changed",
        url: "https://shop.example/2",
        title: "Thing 2",
        key: "https://shop.example/2",
        fields: { price: { before: 20, after: 19.5 } },
      },
      { kind: "removed", url: "https://shop.example/3", title: "Thing 3", key: "https://shop.example/3", fields: {} },
    ];
    const counts = { changed: 1, added: 1, removed: 1, unchanged: 1, not_read: 0 };
    assert.deepEqual(output, { first_run: false, total: 3, duplicates: 0, ...counts, changes });
    const lines = (await harness.read(files[0]!.hash)).toString("utf8").trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      changes,
    );
    const all = await harness.done(compareStep, {}, setting);
    assert.equal(all.output["changed"], 2, "the name counts, too, when all fields do");
  });

  it("tells items of the same key apart by their order, and says that there are some", async () => {
    await using harness = new StepHarness();
    const prices = (...list: number[]) => list.map((price) => ({ url: "https://shop.example/", price }));
    const setting = { inputs: prices(1, 99, 3, 4), lastRun: { step: prices(1, 2, 3) } };
    const { output } = await harness.done(compareStep, { fields: ["price"] }, setting);
    const { changed, added, removed, unchanged, duplicates, changes } = output;
    assert.deepEqual([changed, added, removed, unchanged, duplicates], [1, 1, 0, 2, 3]);
    assert.deepEqual((changes as { fields: unknown }[])[0]?.fields, { price: { before: 2, after: 99 } });
    const fewer = { inputs: prices(1), lastRun: { step: prices(1, 2) } };
    assert.equal((await harness.done(compareStep, {}, fewer)).output["removed"], 1);
  });

  it("compares what items say: every name counts, and an id that only this run has does not", async () => {
    await using harness = new StepHarness();
    const item = (text: string) => JSON.parse(text) as Item;
    const compared = async (before: string, now: string) =>
      (await harness.done(compareStep, {}, { inputs: [item(now)], lastRun: { step: [item(before)] } })).output;
    const odd = await compared('{"url":"u","__proto__":1}', '{"url":"u","__proto__":{"x":2}}');
    assert.equal(odd["changed"], 1);
    assert.match(JSON.stringify(odd["changes"]), /"__proto__":\{"before":1,"after":\{"x":2\}\}/);
    const file = await compared('{"url":"u","hash":"h","artifact_id":"1"}', '{"url":"u","hash":"h","artifact_id":"2"}');
    assert.equal(file["unchanged"], 1);
  });

  it("compares more than it holds at once", async () => {
    await using harness = new StepHarness();
    const text = "long ".repeat(800_000);
    const inputs = Array.from({ length: 5 }, (_, n) => offer(n, n + 1, { text }));
    const lastRun = { step: Array.from({ length: 6 }, (_, n) => offer(n, n, { text })) };
    const { output, files } = await harness.done(compareStep, {}, { inputs, lastRun });
    assert.deepEqual([output["changed"], output["removed"]], [5, 1]);
    const lines = (await harness.read(files[0]!.hash)).toString("utf8").trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { url: string }).url),
      lastRun.step.map(({ url }) => url),
    );
  });

  it("takes what you name as key, and compares lists and objects by what they say", async () => {
    await using harness = new StepHarness();
    const before = [{ shop: "a", sku: 1, data: { tags: ["x", "y"], size: { w: 1, h: 2 } } }];
    const same = [{ data: { size: { h: 2, w: 1 }, tags: ["x", "y"] }, sku: 1, shop: "a", seen: "now" }];
    const params = { key: ["shop", "sku"], fields: ["data.tags", "data.size"] };
    const equal = await harness.done(compareStep, params, { inputs: same, lastRun: { step: before } });
    assert.equal(equal.output["unchanged"], 1);
    const other = [{ ...same[0]!, data: { tags: ["y", "x"] } }];
    const { output } = await harness.done(compareStep, params, { inputs: other, lastRun: { step: before } });
    assert.deepEqual(output["changes"], [
      {
        kind: "changed",
        url: null,
        title: null,
        key: ["a", 1],
        fields: {
          "data.tags": { before: ["x", "y"], after: ["y", "x"] },
          "data.size": { before: { w: 1, h: 2 }, after: null },
        },
      },
    ]);
  });

  it("shows a bounded part of a great many changes, and has all of them in a file [slow]", async () => {
    await using harness = new StepHarness();
    const text = "long ".repeat(10_000);
    const inputs = Array.from({ length: 300 }, (_, n) => offer(n, n, { text: `${text}${n}` }));
    const lastRun = { step: Array.from({ length: 300 }, (_, n) => offer(n, n, { text })) };
    const { output, files } = await harness.done(compareStep, {}, { inputs, lastRun });
    assert.equal(output["changed"], 300);
    assert.ok(JSON.stringify(output).length < 100_000);
    assert.equal((await harness.read(files[0]!.hash)).toString("utf8").trimEnd().split("\n").length, 300);
  });
});
