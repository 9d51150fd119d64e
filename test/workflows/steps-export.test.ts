import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import fc from "../support/properties.ts";
import { parquetReadObjects } from "hyparquet";
import sharp from "sharp";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { drawOf, splitByDraw, splitByLabel } from "../../src/workflows/items/splits.ts";
import type { Item } from "../../src/workflows/step-kind.ts";
import { exportStep } from "../../src/workflows/steps/export.ts";
import { readZip } from "../support/zip.ts";
import { type DoneStep, faultsOf, StepHarness } from "./step-kit.ts";

const run = promisify(execFile);

const ARTICLES: Item[] = Array.from({ length: 40 }, (_, n) => ({
  url: `https://news.example/${n}`,
  title: `Article ${n}`,
  word_count: n * 10,
  content_hash: String(n % 30).padStart(64, "0"),
  fields: { price: n / 2 },
}));

const textOf = async (harness: StepHarness, { files }: DoneStep, index = 0) =>
  (await harness.read(files[index]!.hash)).toString("utf8");

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, JsonValue>);

async function pictures(harness: StepHarness, count: number): Promise<Item[]> {
  const formats = ["jpeg", "png", "webp"] as const;
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const format = formats[n % 3]!;
      const background = { r: n * 3, g: 255 - n, b: 40 };
      const bytes = await sharp({ create: { width: 8 + n, height: 8, channels: 3, background } })
        .toFormat(format)
        .toBuffer();
      return harness.file(bytes, {
        url: `https://img.example/${n}.jpg`,
        label: n % 4 === 0 ? "dog" : "cat",
        image: { width: 8 + n, height: 8, format },
        license: "CC-BY-4.0",
      });
    }),
  );
}

/** A folder with what is in the archive. */
async function unpacked(harness: StepHarness, { files: [archive] }: DoneStep, kind: "zip" | "tar"): Promise<string> {
  const path = await harness.artifacts.pathOf(archive!.hash);
  const out = `${harness.dir}/out-${archive!.hash.slice(0, 8)}`;
  mkdirSync(out);
  // What is compressed, tar recognises by itself.
  if (kind === "tar") await run("tar", ["-xf", path, "-C", out]);
  else {
    for (const [name, bytes] of readZip(readFileSync(path))) {
      mkdirSync(dirname(join(out, name)), { recursive: true });
      writeFileSync(join(out, name), bytes);
    }
  }
  return out;
}

describe("an export", () => {
  it("is a table of its items, in every format, without what the product says of records", async () => {
    await using harness = new StepHarness();
    const inputs = ARTICLES.slice(0, 2);
    const jsonl = await harness.done(exportStep, {}, { inputs });
    assert.deepEqual(linesOf(await textOf(harness, jsonl)), inputs);
    assert.deepEqual(jsonl.output, {
      count: 2,
      artifact_hash: jsonl.files[0]?.hash,
      bytes: jsonl.files[0]?.size,
      format: "jsonl",
    });
    assert.deepEqual(jsonl.items, inputs);
    assert.match(jsonl.files[0]?.url ?? "", /a-workflow\.jsonl$/);
    const json = await harness.done(exportStep, { format: "json", name: "Two Articles" }, { inputs });
    assert.deepEqual(JSON.parse(await textOf(harness, json)), inputs);
    assert.match(json.files[0]?.url ?? "", /two-articles\.json$/);
    const fields = { title: "title", price: "fields.price", none: "fields.none" };
    const csv = await harness.done(exportStep, { format: "csv", fields }, { inputs });
    assert.equal(
      await textOf(harness, csv),
      "url,title,price,none\r\nhttps://news.example/0,Article 0,0,\r\nhttps://news.example/1,Article 1,0.5,\r\n",
    );
    const parquet = await harness.done(exportStep, { format: "parquet", fields }, { inputs });
    const { buffer } = new Uint8Array(await harness.read(parquet.files[0]!.hash));
    assert.deepEqual(await parquetReadObjects({ file: buffer }), [
      { url: "https://news.example/0", title: "Article 0", price: 0, none: null },
      { url: "https://news.example/1", title: "Article 1", price: 0.5, none: null },
    ]);
    assert.match(
      await textOf(harness, await harness.done(exportStep, { format: "markdown" }, { inputs })),
      /^---\nurl: ".*"\n.*# Article 1$/ms,
    );
  });

  it("has only items that meet its conditions, and each content once", async () => {
    await using harness = new StepHarness();
    const params = { where: { fields: { word_count: { min: 50 } } }, unique: "content_hash" };
    const { output, items } = await harness.done(exportStep, params, { inputs: ARTICLES });
    // 5 to 29 are long enough; 30 to 34 say what 0 to 4 said, which were too short; 35 to 39 say what 5 to 9 said.
    assert.equal(output["count"], 30);
    assert.deepEqual(
      items.map(({ url }) => url),
      ARTICLES.slice(5, 35).map(({ url }) => url),
    );
  });

  it("has a file for each part, when it is packed", async () => {
    await using harness = new StepHarness();
    const params = { archive: "zip", split: { train: 8, test: 2 }, fields: { title: "title" } };
    const end = await harness.done(exportStep, params, { inputs: ARTICLES });
    const folder = await unpacked(harness, end, "zip");
    assert.deepEqual(readdirSync(folder).toSorted(), ["test.jsonl", "train.jsonl"]);
    const { train, test } = end.output["splits"] as { train: number; test: number };
    assert.equal(train + test, 40);
    assert.equal(linesOf(readFileSync(`${folder}/train.jsonl`, "utf8")).length, train);
    const rows = linesOf(readFileSync(`${folder}/test.jsonl`, "utf8"));
    assert.deepEqual(Object.keys(rows[0]!), ["url", "title", "split"]);
    assert.equal(rows.length, test);
    assert.equal(end.files.length, 5, "the archive, two tables, the data card and the description");
  });

  it("is empty, but there, when nothing came in", async () => {
    await using harness = new StepHarness();
    for (const params of [{}, { images: true }, { images: true, split: { a: 1 }, stratify: true }]) {
      const { output, files } = await harness.done(exportStep, params, { inputs: [] });
      assert.equal(output["count"], 0);
      assert.ok(files.length > 0);
    }
  });

  it("takes null for what an expression left open, and refuses what it does not know", () => {
    assert.deepEqual(faultsOf(exportStep, { split: null, archive: null, fields: null }), []);
    for (const params of [
      { format: "xls" },
      { split: { "../x": 1 } },
      { split: { a: 0 } },
      { split: { a: 1e308, b: 1e308 } },
      { archive: "rar" },
      { x: 1 },
    ])
      assert.notDeepEqual(faultsOf(exportStep, params as never), []);
  });

  it("refuses parts that Windows cannot have, and columns that the table has by itself", () => {
    const refused = (params: Record<string, JsonValue>) =>
      (exportStep.check?.(params, []) ?? []).map(({ path }) => path);
    const split = { train: 1, con: 1, NUL: 1, Train: 1, console: 1 };
    assert.deepEqual(refused({ split }), ["params.split.Train", "params.split.con", "params.split.NUL"]);
    const fields = { file: "url", label: "url", split: "url", width: "image.width" };
    const ofLabel = ["params.fields.file", "params.fields.label"];
    assert.deepEqual(refused({ images: true, fields }), ofLabel);
    assert.deepEqual(refused({ images: true, fields, split: { a: 1 } }), [...ofLabel, "params.fields.split"]);
    assert.deepEqual(refused({ fields }), []);
  });
});

describe("a dataset of images", () => {
  it("has folders by part and label, endings by content, and a manifest that tells of each file", async () => {
    await using harness = new StepHarness();
    const inputs = await pictures(harness, 40);
    const split = { train: 0.8, val: 0.1, test: 0.1 };
    const params = { images: true, split, stratify: true, format: "jsonl" };
    const end = await harness.done(exportStep, params, { inputs });
    assert.deepEqual(end.output["labels"], { cat: 30, dog: 10 });
    assert.deepEqual(end.output["splits"], { train: 32, val: 4, test: 4 });
    assert.equal(end.output["missing"], 0);
    const folder = await unpacked(harness, end, "zip");
    assert.deepEqual(readdirSync(folder).toSorted(), ["manifest.jsonl", "test", "train", "val"]);
    assert.equal(readdirSync(`${folder}/train/dog`).length, 8);
    assert.equal(readdirSync(`${folder}/train/cat`).length, 24);
    const manifest = linesOf(readFileSync(`${folder}/manifest.jsonl`, "utf8"));
    assert.equal(manifest.length, 40);
    for (const [n, row] of manifest.entries()) {
      const { url, hash, image, label } = inputs[n]!;
      const { file, split: part, ...about } = row as { file: string; split: string };
      assert.match(file, new RegExp(`^${part}/${label}/\\d{6}\\.(jpg|png|webp)$`));
      assert.deepEqual(about, {
        url,
        label,
        hash,
        width: image?.["width"],
        height: 8,
        bytes: inputs[n]!.bytes,
        license: "CC-BY-4.0",
      });
      const bytes = readFileSync(`${folder}/${file}`);
      assert.ok(bytes.equals(await harness.read(String(hash))));
      const { format } = await sharp(bytes).metadata();
      assert.equal(file.split(".").at(-1), format === "jpeg" ? "jpg" : format);
      assert.equal(end.items[n]?.["file"], file);
      assert.equal(end.items[n]?.["split"], part);
    }
  });

  it("is the same file each time, as ZIP and as TAR [slow]", async () => {
    await using harness = new StepHarness();
    const inputs = await pictures(harness, 12);
    for (const archive of ["zip", "tar", "tar.gz"]) {
      const params = { images: true, archive, split: { a: 1, b: 1 }, format: "csv" };
      const [first, second] = [
        await harness.done(exportStep, params, { inputs }),
        await harness.done(exportStep, params, { inputs }),
      ];
      // The card has a date.
      assert.deepEqual(first.files.slice(0, 2), second.files.slice(0, 2));
      assert.deepEqual(first.output, second.output);
      if (archive !== "zip") assert.ok(readdirSync(await unpacked(harness, first, "tar")).includes("manifest.csv"));
      const other = await harness.done(exportStep, { ...params, seed: 7 }, { inputs });
      assert.notEqual(other.files[0]?.hash, first.files[0]?.hash);
    }
  });

  it("recognises files that nobody has looked at, and leaves out those that are not there", async () => {
    await using harness = new StepHarness();
    const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const inputs = [
      await harness.file(png, { url: "https://a.example/lies.jpg", content_type: "image/jpeg" }),
      await harness.file("plain", { url: "https://a.example/x", content_type: "text/plain; charset=utf-8" }),
      await harness.file("what", { url: "https://a.example/model.stl" }),
      await harness.file("else", { url: "https://a.example/else" }),
      { url: "https://a.example/gone.png", hash: "0".repeat(64) },
      { url: "https://a.example/page" },
    ];
    const { output, items } = await harness.done(exportStep, { images: true }, { inputs });
    assert.deepEqual(
      items.map(({ file }) => file),
      ["000001.png", "000002.txt", "000003.stl", "000004.bin"].map((name) => `unlabelled/${name}`),
    );
    assert.equal(output["missing"], 2);
  });

  it("fails, to be tried again, when files go while it is made: names must not shift", async () => {
    await using harness = new StepHarness();
    const inputs = await Promise.all(["a", "b", "c"].map((name) => harness.file(name, { label: "x", name })));
    for (const passes of [1, 2]) {
      let pass = 0;
      const context = harness.context({ inputs });
      const disturbed = {
        ...context,
        inputs() {
          pass += 1;
          if (pass === passes + 1) rmSync(harness.artifacts.locationOf(inputs[passes]!.hash));
          return context.inputs();
        },
      };
      await assert.rejects(
        exportStep.run(disturbed, { images: true }),
        /a file was removed while the dataset was built/,
      );
    }
    const { output } = await harness.done(exportStep, { images: true }, { inputs });
    assert.deepEqual([output["count"], output["missing"]], [1, 2]);
  });

  it("gives every label a folder of its own, whatever it is called", async () => {
    await using harness = new StepHarness();
    const labels = ["../../etc", "etc", "a/b", "a\\b", "CON", "猫", "Cat!", "cat?", "...", "x".repeat(500), "été"];
    labels.push(
      "manifest.jsonl",
      "Manifest.JSONL",
      "nul.tar.gz",
      "com¹",
      `${"y".repeat(79)}.z`,
      `lpt3${"-".repeat(80)}z`,
    );
    const inputs = await Promise.all(labels.map((label) => harness.file(label, { label })));
    const end = await harness.done(exportStep, { images: true, archive: "tar" }, { inputs });
    const folders = end.items.map(({ file }) => String(file).split("/"));
    assert.ok(folders.every((parts) => parts.length === 2));
    const names = folders.map(([name]) => name!.toLowerCase());
    assert.equal(new Set(names).size, labels.length, names.join(" "));
    assert.ok(names.every((name) => !name.startsWith(".") && !name.endsWith(".") && !/[/\\:*?"<>|]/.test(name)));
    assert.ok(
      names.every((name) => !["con", "nul", "com¹", "lpt3"].includes(name.split(".")[0]!)),
      names.join(" "),
    );
    assert.ok(names.includes("猫"));
    const folder = await unpacked(harness, end, "tar");
    assert.equal(readdirSync(folder).length, labels.length + 1);
  });
});

describe("the parts of a dataset", () => {
  const items = fc
    .uniqueArray(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 200 })
    .map((list) => list.map((n): Item => ({ hash: n.toString(16).padStart(64, "0"), label: `l${n % 3}` })));
  const stream = async function* (list: readonly Item[]) {
    yield* list;
  };

  it("depend on content and seed alone, not on order or company", () => {
    fc.assert(
      fc.property(items, fc.string(), (list, seed) => {
        const [one, other] = [splitByDraw({ a: 3, b: 1 }, seed), splitByDraw({ a: 3, b: 1 }, seed)];
        const first = new Map(list.map((item) => [item.hash, one.splitOf(item)]));
        for (const item of list.toReversed()) assert.equal(other.splitOf({ ...item, url: "x" }), first.get(item.hash));
      }),
    );
  });

  it("have about their shares without having seen the items, and exactly with it, label by label", async () => {
    const many = Array.from({ length: 20_000 }, (_, n): Item => ({ hash: `${n}` }));
    const draws = many.map((item) => drawOf(item, "0"));
    assert.ok(draws.every((draw) => draw >= 0 && draw < 1));
    const splitter = splitByDraw({ train: 0.8, val: 0.1, test: 0.1 }, "0");
    const train = many.filter((item) => splitter.splitOf(item) === "train").length;
    assert.ok(Math.abs(train - 16_000) < 400, `${train}`);
    await fc.assert(
      fc.asyncProperty(items, fc.string(), async (list, seed) => {
        const exact = await splitByLabel({ train: 6, val: 2, test: 2 }, seed, stream(list));
        const shuffled = await splitByLabel({ train: 6, val: 2, test: 2 }, seed, stream(list.toReversed()));
        for (const label of ["l0", "l1", "l2"]) {
          const ofLabel = list.filter((item) => item.label === label);
          const parts = Map.groupBy(ofLabel, (item) => exact.splitOf(item));
          const size = (name: string) => parts.get(name)?.length ?? 0;
          assert.equal(size("train"), Math.round(0.6 * ofLabel.length));
          assert.equal(size("train") + size("val"), Math.round(0.8 * ofLabel.length));
          assert.equal(size("train") + size("val") + size("test"), ofLabel.length);
          for (const item of ofLabel) assert.equal(shuffled.splitOf(item), exact.splitOf(item));
        }
      }),
    );
  });
});
