import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { markdownExporter } from "../../src/exporters/markdown.ts";
import { type MarkdownPage, markdownZipExporter, pagesIn } from "../../src/exporters/markdown-pages.ts";
import { readZip } from "../support/zip.ts";
import { bytesOf, HOSTILE, record, stream } from "./records.ts";

type Given = [url: string, data: Record<string, JsonValue>];

const recordsOf = (given: readonly Given[]) =>
  stream(given.map(([url, data], index) => ({ ...record(data, index + 1), url })));

/** In pieces of some bytes, so that letters and lines are cut. */
async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function pagesOf(given: readonly Given[]): Promise<MarkdownPage[]> {
  const bytes = await bytesOf(markdownExporter, recordsOf(given));
  const size = Math.max(7, Math.ceil(bytes.length / 100));
  const pages: MarkdownPage[] = [];
  for await (const { fileName, text } of pagesIn(inPieces(bytes, size))) pages.push({ fileName, text });
  const packed = readZip(Buffer.from(await bytesOf(markdownZipExporter, recordsOf(given))));
  assert.deepEqual(
    [...packed].map(([name, content]) => [name, content.toString()]),
    pages.map(({ fileName, text }) => [fileName, text]),
    "the ZIP file has the same files",
  );
  return pages;
}

const namesOf = async (given: readonly Given[]) => (await pagesOf(given)).map(({ fileName }) => fileName);

test("files have the words of their titles, or else of their addresses", async () => {
  assert.deepEqual(
    (
      await namesOf([
        ["https://a.example/1", { title: "A Light in the Attic" }],
        ["https://a.example/2", { title: "Über   den Wölfen: 狼 (2. Teil)" }],
        ["https://a.example/docs/guide/Install.html?x=1", {}],
        ["https://a.example/", { title: " " }],
        ["https://a.example/shop/index.html", { title: null }],
        ["https://a.example/%E7%8B%BC/%zz", {}],
        ["no address", {}],
      ])
    ).map((name) => name.replace(/-[0-9a-f]{8}\.md$/, "")),
    [
      "a-light-in-the-attic",
      "über-den-wölfen-狼-2-teil",
      "guide-install",
      "a-example",
      "shop",
      "e7-8b-bc-zz",
      "no-address",
    ],
  );
});

test("two pages with the same title have two files, with the same names in any order", async () => {
  const given: Given[] = [
    ["https://a.example/1", { title: "Same", markdown: "one" }],
    ["https://a.example/2", { title: "SAME", markdown: "two" }],
  ];
  const names = await namesOf(given);
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, 2);
  assert.deepEqual((await namesOf(given.toReversed())).toReversed(), names);
});

test("the records of a page share its file, and a page that comes back loses nothing", async () => {
  const pages = await pagesOf([
    ["https://a.example/1", { title: "One", markdown: "first" }],
    ["https://a.example/1", { title: "Two", markdown: "second" }],
    ["https://a.example/2", { title: "Three" }],
    ["https://a.example/1", { title: "One", markdown: "third" }],
  ]);
  assert.equal(pages.length, 3);
  assert.match(pages[0]?.text ?? "", /^---\nurl: .*first\n\n---\nurl: .*second\n$/s);
  assert.match(pages[2]?.fileName ?? "", /^one-[0-9a-f]{8}-2\.md$/);
});

test("hostile titles and addresses make safe, short names", async () => {
  const hostile = [
    ...HOSTILE,
    "../../etc/passwd",
    "CON",
    "nul.md",
    "a/b\\c",
    "-rf",
    ".hidden",
    "e\u0301\u0301",
    "\u0301",
  ];
  for (const title of hostile)
    for (const name of await namesOf([
      ["https://a.example/x", { title }],
      [title, {}],
    ])) {
      assert.match(name, /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_-]*-[0-9a-f]{8}\.md$/u);
      assert.ok(Buffer.byteLength(name) <= 100, name);
    }
});

test("no records are no files", async () => {
  assert.deepEqual(await pagesOf([]), []);
});
