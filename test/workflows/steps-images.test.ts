import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { TaskArtifact } from "../../src/domain/run/outcome.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { createImageInspector, type ImageInspector } from "../../src/images/inspector.ts";
import type { Item } from "../../src/workflows/step-kind.ts";
import { deduplicateStep } from "../../src/workflows/steps/deduplicate.ts";
import { validateStep } from "../../src/workflows/steps/validate.ts";
import { type ImageSet, makeImageSet } from "../support/images.ts";
import { encoder, photo } from "../support/pictures.ts";
import { faultsOf, StepHarness } from "./step-kit.ts";

describe("the steps for images", () => {
  const images = createImageInspector({ clock: systemClock, processes: 2 });
  after(() => images.close());
  const validate = validateStep(images);
  const deduplicate = deduplicateStep(images);
  const random = seededRandom(21);

  async function linesOf(harness: StepHarness, files: readonly TaskArtifact[], name: string): Promise<Item[]> {
    const file = files.find(({ url }) => url.endsWith(`/${name}`));
    assert.ok(file !== undefined, `there is a file ${name}`);
    const text = (await harness.read(file.hash)).toString("utf8");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Item);
  }

  function itemsOf(harness: StepHarness, { files }: ImageSet): Promise<Item[]> {
    return Promise.all(
      files.map(({ name, bytes, contentType }) =>
        harness.file(bytes, { name, content_type: contentType, url: `https://pictures.example/${name}` }),
      ),
    );
  }

  const namesOf = (items: readonly Item[]) => items.map(({ name }) => name).sort();

  describe("a set of images that goes through validate and deduplicate", () => {
    for (const seed of [1, 2])
      it(`comes out as it should, seed ${seed}: the good ones once, the others with their reasons [slow]`, async () => {
        await using harness = new StepHarness();
        const set = await makeImageSet({ count: 200, seed });
        const inputs = await itemsOf(harness, set);

        const good = await harness.done(validate, set.validate, { inputs });
        assert.deepEqual(good.output, set.counts.validate);
        const refused = await linesOf(harness, good.files, "invalid.jsonl");
        const expected = new Map(set.files.map((file) => [file.name, file.expected]));
        for (const { name = "", valid, reason } of refused)
          assert.deepEqual([name, valid, reason], [name, false, expected.get(name)?.reason]);
        for (const { valid, image } of good.items) {
          assert.equal(valid, true);
          assert.match(String(image?.["phash"]), /^[0-9a-f]{16}$/);
        }
        const misnamed = good.items.filter(({ image }) => image?.["wrong_extension"] === true);
        assert.deepEqual(
          namesOf(misnamed),
          set.files
            .map(({ name }) => name)
            .filter((name) => name.startsWith("misnamed"))
            .sort(),
        );
        assert.deepEqual(harness.progress.at(-1), { done: 200, total: 200, message: undefined });

        const once = await harness.done(deduplicate, set.deduplicate, { inputs: good.items });
        assert.deepEqual(once.output, set.counts.deduplicate);
        for (const item of await linesOf(harness, once.files, "removed.jsonl")) {
          const { match, name } = item["duplicate_of"] as { match: string; name: string };
          const like = expected.get(item.name ?? "");
          assert.equal(match, like?.nearDuplicateOf === null ? "exact" : "near");
          // Of the same bytes the first one stays, whatever the set calls it.
          assert.equal(originalOf(set, name), like?.nearDuplicateOf ?? originalOf(set, item.name ?? ""));
        }
        const again = await harness.done(deduplicate, set.deduplicate, { inputs: good.items.toReversed() });
        assert.deepEqual(again.output, once.output, "the order of the items makes no difference to the counts");
      });
  });

  function originalOf(set: ImageSet, name: string): string {
    const file = set.files.find((candidate) => candidate.name === name);
    return file?.expected.exactDuplicateOf ?? name;
  }

  describe("validate", () => {
    it("applies every rule to pictures, and says which one refuses [slow]", async () => {
      await using harness = new StepHarness();
      const picture = await photo(random, 200, 100);
      const jpeg = await harness.file(await encoder(picture).jpeg().toBuffer(), { name: "a.jpg" });
      const why = async (params: Record<string, JsonValue>, item: Item = jpeg) => {
        const { output } = await harness.done(validate, params, { inputs: [item] });
        return Object.keys(output["reasons"] as object)[0] ?? null;
      };
      assert.equal(await why({}), null);
      assert.equal(await why({ min_width: 200, max_width: 200, min_height: 100, max_height: 100 }), null);
      assert.equal(await why({ min_width: 201 }), "width_too_small");
      assert.equal(await why({ max_width: 199 }), "width_too_large");
      assert.equal(await why({ min_height: 101 }), "height_too_small");
      assert.equal(await why({ max_height: 99 }), "height_too_large");
      assert.equal(await why({ min_aspect: 2, max_aspect: 2 }), null);
      assert.equal(await why({ min_aspect: 2.1 }), "aspect_too_small");
      assert.equal(await why({ max_aspect: 1.9 }), "aspect_too_large");
      assert.equal(await why({ min_bytes: 1_000_000 }), "file_too_small");
      assert.equal(await why({ max_bytes: 10 }), "file_too_large");
      assert.equal(await why({ formats: ["png", "webp"] }), "format_not_allowed");
      assert.equal(await why({ strict_extension: true }), null);
      assert.equal(await why({ strict_extension: true }, { ...jpeg, name: "a.png" }), "wrong_extension");
      assert.equal(await why({ strict_extension: true }, { ...jpeg, name: "a" }), null);
      assert.equal(await why({}, { url: "https://pictures.example/never-downloaded" }), "missing");
      assert.equal(await why({}, { hash: "0".repeat(64) }), "missing");
      assert.equal(await why({}, await harness.file("<!doctype html><p>Sorry", { name: "b.jpg" })), "not_an_image");

      const set = await makeImageSet({ count: 60, seed: 9 });
      const inputs = await itemsOf(harness, set);
      const all = { ...set.validate, allow_animated: true, allow_blank: true };
      const { output } = await harness.done(validate, all, { inputs });
      const reasons = Object.keys(output["reasons"] as object);
      assert.ok(!reasons.includes("blank") && !reasons.includes("animated"), reasons.join(" "));
    });

    it("finds pictures that another step archives between the asking and the look", async () => {
      await using harness = new StepHarness();
      const picture = await photo(random, 120, 80);
      const plain = await harness.file(await encoder(picture).jpeg().toBuffer());
      const packed = await harness.file(await encoder(picture).tiff({ compression: "none" }).toBuffer());
      const removed = await harness.file(await encoder(picture).png().toBuffer());
      let looks = 0;
      const disturbed: ImageInspector = {
        async inspect(paths, signal) {
          looks += 1;
          if (looks === 1) for (const { hash } of [plain, packed]) await harness.artifacts.coolDown(hash);
          if (looks === 1) rmSync(harness.artifacts.locationOf(removed.hash));
          return images.inspect(paths, signal);
        },
        close: async () => {},
      };
      const { output } = await harness.done(validateStep(disturbed), {}, { inputs: [plain, packed, removed] });
      assert.deepEqual(output, { valid: 2, invalid: 1, reasons: { missing: 1 } });
      assert.equal(looks, 2);
    });

    it("checks files of any kind by what their bytes say", async () => {
      await using harness = new StepHarness();
      const pdf = await harness.file("%PDF-1.7 and so on", { name: "paper.pdf" });
      const text = await harness.file("plain words", { name: "words.txt", content_type: "Text/Plain; charset=utf-8" });
      const page = await harness.file("<!DOCTYPE html><title>no", {
        name: "lost.pdf",
        content_type: "application/pdf",
      });
      const inputs = [pdf, text, page];
      const run = async (params: Record<string, JsonValue>) => {
        const { output, items } = await harness.done(validate, { kind: "file", ...params }, { inputs });
        return [items.map(({ name }) => name), output["reasons"]];
      };
      assert.deepEqual(await run({}), [["paper.pdf", "words.txt", "lost.pdf"], {}]);
      assert.deepEqual(await run({ content_types: ["application/pdf"] }), [["paper.pdf"], { wrong_content_type: 2 }]);
      assert.deepEqual(await run({ content_types: ["text/*"] }), [
        ["words.txt", "lost.pdf"],
        { wrong_content_type: 1 },
      ]);
      assert.deepEqual(await run({ strict_extension: true }), [["paper.pdf", "words.txt"], { wrong_extension: 1 }]);
      assert.deepEqual(await run({ sha256: [text.hash] }), [["words.txt"], { sha256_not_listed: 2 }]);
      assert.deepEqual(await run({ min_bytes: 12 }), [["paper.pdf", "lost.pdf"], { file_too_small: 1 }]);
      assert.deepEqual(await run({ max_bytes: 12 }), [["words.txt"], { file_too_large: 2 }]);
    });

    it("refuses params that its kind does not know", () => {
      assert.deepEqual(faultsOf(validate, { min_width: 64 }), []);
      assert.deepEqual(faultsOf(validate, { kind: "file", sha256: ["0".repeat(64)] }), []);
      assert.ok(faultsOf(validate, { kind: "file", min_width: 64 }).length > 0);
      assert.ok(faultsOf(validate, { sha256: ["0".repeat(64)] }).length > 0);
      assert.ok(faultsOf(validate, { formats: ["svg"] }).length > 0);
      assert.ok(faultsOf(deduplicate, { distance: 17 }).length > 0);
    });

    it("ends with nothing when nothing comes in, and stops when it is told to", async () => {
      await using harness = new StepHarness();
      const { output, files } = await harness.done(validate, {}, {});
      assert.deepEqual(output, { valid: 0, invalid: 0, reasons: {} });
      assert.deepEqual(files, []);
      const stop = AbortSignal.abort(new Error("time is over"));
      const inputs = [await harness.file("x")];
      await assert.rejects(harness.run(validate, {}, { inputs, signal: stop }), /time is over/);
      await assert.rejects(harness.run(deduplicate, {}, { inputs, signal: stop }), /time is over/);
    });
  });

  describe("deduplicate", () => {
    it("looks at pictures whose items have a field named image from the page they were on", async () => {
      await using harness = new StepHarness();
      const picture = await photo(random, 240, 160);
      const large = await harness.file(await encoder(picture).jpeg().toBuffer());
      const small = await harness.file(await encoder(picture).resize(120, 80).jpeg().toBuffer());
      for (const image of ["https://pictures.example/a.jpg", { url: "https://pictures.example/a.jpg" }, null, 7]) {
        const inputs = [large, small].map((item) => ({ ...item, image }) as unknown as Item);
        const { output } = await harness.done(deduplicate, {}, { inputs });
        assert.deepEqual(output, { kept: 1, removed: 1, exact: 0, near: 1 }, JSON.stringify(image));
      }
      const judged = (await harness.done(validate, {}, { inputs: [large, small] })).items;
      const unseen = deduplicateStep({
        inspect: async (paths) => paths.map(() => assert.fail()),
        close: async () => {},
      });
      const { output } = await harness.done(unseen, {}, { inputs: judged });
      assert.deepEqual(
        output,
        { kept: 1, removed: 1, exact: 0, near: 1 },
        "what validate has seen is not looked at again",
      );
    });

    it("looks at pictures that nobody has looked at, and leaves files of other kinds to their bytes", async () => {
      await using harness = new StepHarness();
      const [one, two] = [await photo(random, 160, 120), await photo(random, 160, 120)];
      const inputs = [
        await harness.file(await encoder(one).resize(80).jpeg().toBuffer(), { name: "small.jpg" }),
        await harness.file(await encoder(one).png().toBuffer(), { name: "large.png" }),
        await harness.file(await encoder(two).png().toBuffer(), { name: "other.png" }),
        await harness.file("words", { name: "words.txt" }),
        await harness.file("words", { name: "words-again.txt" }),
        { url: "https://pictures.example/without-a-file" },
        { url: "https://pictures.example/without-a-file" },
      ];
      const largest = await harness.done(deduplicate, {}, { inputs });
      assert.deepEqual(largest.output, { kept: 5, removed: 2, exact: 1, near: 1 });
      assert.deepEqual(
        largest.items.map(({ name }) => name),
        ["large.png", "other.png", "words.txt", undefined, undefined],
      );
      const removed = await linesOf(harness, largest.files, "removed.jsonl");
      assert.deepEqual(
        removed.map(({ name, duplicate_of }) => {
          const like = duplicate_of as Record<string, JsonValue>;
          return [name, like["name"], like["match"]];
        }),
        [
          ["small.jpg", "large.png", "near"],
          ["words-again.txt", "words.txt", "exact"],
        ],
      );
      const first = await harness.done(deduplicate, { keep: "first" }, { inputs });
      assert.equal(first.items[0]?.name, "small.jpg");
      const exact = await harness.done(deduplicate, { distance: 0 }, { inputs });
      assert.deepEqual(exact.output, { kept: 6, removed: 1, exact: 1, near: 0 });
    });

    it("takes 20,000 pictures whose hashes are known without looking at a file [slow]", async () => {
      await using harness = new StepHarness();
      const hex = (digits: number) =>
        Array.from({ length: digits }, () => Math.floor(random.next() * 16).toString(16)).join("");
      const originals = Array.from({ length: 15_000 }, (_, at) => ({
        name: `original-${at}`,
        hash: hex(64),
        bytes: 2000,
        image: { width: 640, height: 480, phash: hex(16) },
      }));
      const copies = originals.slice(0, 4000).map(({ name, image }) => ({
        name: `copy-of-${name}`,
        hash: hex(64),
        bytes: 1000,
        // Two bits differ.
        image: { ...image, phash: image.phash.replace(/^./, (digit) => (Number.parseInt(digit, 16) ^ 5).toString(16)) },
      }));
      const again = originals.slice(-1000).map((item) => ({ ...item, name: `again-${item.name}` }));
      const { output } = await harness.done(deduplicate, {}, { inputs: [...copies, ...originals, ...again] });
      assert.deepEqual(output, { kept: 15_000, removed: 5000, exact: 1000, near: 4000 });
    });
  });
});
