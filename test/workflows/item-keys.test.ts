import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { createImageInspector } from "../../src/images/inspector.ts";
import { recordItem } from "../../src/workflows/items/item-keys.ts";
import type { Item, StepKind } from "../../src/workflows/step-kind.ts";
import { archiveStep } from "../../src/workflows/steps/archive.ts";
import { cleanupStep } from "../../src/workflows/steps/cleanup.ts";
import { compareStep } from "../../src/workflows/steps/compare.ts";
import { deduplicateStep } from "../../src/workflows/steps/deduplicate.ts";
import { exportStep } from "../../src/workflows/steps/export.ts";
import { labelStep } from "../../src/workflows/steps/label.ts";
import { validateStep } from "../../src/workflows/steps/validate.ts";
import { StepHarness } from "./step-kit.ts";

describe("a record that has fields named as the product's own", () => {
  it("cannot say which stored file is meant: what it says there stands beside", () => {
    const data = {
      title: "a",
      hash: "0".repeat(64),
      bytes: 5,
      content_type: "image/png",
      artifact_id: "x",
      label: "cat",
    };
    assert.deepEqual(recordItem("https://site.example/", data), {
      url: "https://site.example/",
      title: "a",
      label: "cat",
      scraped_hash: "0".repeat(64),
      scraped_bytes: 5,
      scraped_content_type: "image/png",
      scraped_artifact_id: "x",
    });
    assert.deepEqual(recordItem("https://site.example/", { hash: 1, scraped_hash: 2 }), {
      url: "https://site.example/",
      scraped_hash: 2,
      scraped_scraped_hash: 1,
    });
  });

  it("keeps its address and its picture's, and has the page's where it says none", () => {
    const [page, itemUrl] = ["https://site.example/", "https://site.example/one"];
    assert.deepEqual(recordItem(page, { url: itemUrl, image: "/a.jpg" }), { url: itemUrl, image: "/a.jpg" });
    assert.deepEqual(recordItem(page, { url: ["x"] }), { url: page, scraped_url: ["x"] });
    const image = { url: "/a.jpg", phash: "0".repeat(16) };
    assert.deepEqual(recordItem(page, { image }), { url: page, scraped_image: image });
  });
});

describe("items whose keys are of another kind than a step expects", () => {
  it("go through every step as items that do not have them, and their data stay as they are", async () => {
    const images = createImageInspector({ clock: systemClock });
    await using harness = new StepHarness();
    const past = { filesOf: async function* () {}, drop: async () => ({ rows: 0, bytes: 0 }) };
    const good = await harness.file("some words", { label: "text" });
    const kinds: [StepKind<never>, Record<string, JsonValue>][] = [
      [exportStep, {}],
      [exportStep, { images: true, split: { a: 1, b: 1 }, stratify: true }],
      [
        exportStep,
        { where: { url: "**", host: "*", folder: "*", content_type: "*", width: { min: 1 }, bytes: { min: 1 } } },
      ],
      [archiveStep, {}],
      [cleanupStep, {}],
      [compareStep, { fields: ["label"] }],
      [labelStep, { from: "folder" }],
      [labelStep, { from: "search_term" }],
      [validateStep(images), { kind: "file", content_types: ["text/plain"] }],
      [validateStep(images), {}],
      [deduplicateStep(images), {}],
    ];
    const odd: JsonValue[] = [5, null, true, "", "abc", ["a"], { a: 1 }];
    const keys = ["label", "hash", "content_type", "bytes", "artifact_id", "image", "name", "url"];
    const inputs = keys.flatMap((key) => odd.map((value) => ({ ...good, [key]: value }) as unknown as Item));
    for (const [kind, params] of kinds) {
      const done = await harness.done(kind, params, { inputs, past, lastRun: { step: inputs } });
      if (kind.kind === "archive") assert.deepEqual(done.items, inputs);
    }
    await images.close();
  });

  it("are labelled by numbers as by words", async () => {
    await using harness = new StepHarness();
    const seven = await harness.file("7", { label: 7 as unknown as string });
    const list = await harness.file("none", { label: ["x"] as unknown as string });
    const { output, items } = await harness.done(exportStep, { images: true }, { inputs: [seven, list] });
    assert.deepEqual(output["labels"], { "7": 1 });
    assert.deepEqual(
      items.map(({ file }) => file),
      ["7/000001.bin", "unlabelled/000001.bin"],
    );
  });
});
