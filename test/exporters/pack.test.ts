import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream, readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import type { PackedFile } from "../../src/exporters/exporter.ts";
import { type PackingName, PACKINGS } from "../../src/exporters/pack.ts";
import { zip } from "../../src/exporters/zip.ts";
import { tempDir } from "../support/temp-dir.ts";
import { readZip } from "../support/zip.ts";

const run = promisify(execFile);

/** In pieces, as files are read. */
function file(path: string, bytes: Buffer, shrinks = false): PackedFile {
  return {
    path,
    size: bytes.length,
    shrinks,
    async *open() {
      for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
    },
  };
}

const noise = (seed: number, length: number) =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 32) }, (_, n) => createHash("sha256").update(`${seed}.${n}`).digest()),
  ).subarray(0, length);

const SOME = [
  file("train/cat/000001.jpg", noise(1, 5000)),
  file("train/été/000002.png", noise(2, 512)),
  file("empty.bin", Buffer.alloc(0)),
  file("nothing.txt", Buffer.alloc(0), true),
  file("manifest.jsonl", Buffer.from(`{"file":"train/cat/000001.jpg"}\n`.repeat(500)), true),
  file(`${"deep/".repeat(19)}${"long-name-".repeat(7)}.txt`, Buffer.from("deep down")),
];

async function* each<T>(list: Iterable<T>): AsyncGenerator<T> {
  yield* list;
}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Whether the machine has the tool; what needs it is left out where it has not. */
async function has(tool: string, ...args: string[]): Promise<boolean> {
  return run(tool, args).then(
    () => true,
    () => false,
  );
}

async function expectAll(found: Map<string, Buffer>, files: readonly PackedFile[]): Promise<void> {
  assert.deepEqual(
    [...found.keys()],
    files.map(({ path }) => path),
  );
  for (const { path, open } of files) assert.ok(found.get(path)?.equals(await bytesOf(open())), path);
}

describe("many files in one", () => {
  it("are a ZIP file that other programs test and read", async (t) => {
    using dir = tempDir();
    const path = `${dir.path}/some.zip`;
    await pipeline(Readable.from(zip(SOME)), createWriteStream(path));
    await expectAll(readZip(readFileSync(path)), SOME);
    if (await has("unzip", "-v")) {
      await run("unzip", ["-tq", path]);
      await run("unzip", ["-q", path, "-d", `${dir.path}/out`]);
      for (const one of SOME) {
        assert.ok(readFileSync(`${dir.path}/out/${one.path}`).equals(await bytesOf(one.open())), one.path);
      }
    } else t.diagnostic("there is no unzip here");
    if (await has("python3", "-c", "import zipfile")) {
      const read =
        "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nprint(len(z.namelist()))";
      assert.equal((await run("python3", ["-c", read, path])).stdout.trim(), String(SOME.length));
    } else t.diagnostic("there is no python3 here");
  });

  it("are a ZIP file also when sizes, positions and counts exceed the old format [slow]", async (t) => {
    using dir = tempDir();
    const many = Array.from({ length: 150 }, (_, n) => file(`f/${n}`, Buffer.from(String(n))));
    for (const [name, bytes, files] of [
      ["large", await bytesOf(zip(SOME, 100)), SOME],
      ["many", await bytesOf(zip(many, 100)), many],
    ] as const) {
      await expectAll(readZip(bytes), files);
      const path = `${dir.path}/${name}.zip`;
      await pipeline(Readable.from([bytes]), createWriteStream(path));
      if (await has("unzip", "-v")) await run("unzip", ["-tqq", path]);
      else t.diagnostic("there is no unzip here");
      if (await has("python3", "-c", "import zipfile"))
        await run("python3", [
          "-c",
          "import sys, zipfile\nassert zipfile.ZipFile(sys.argv[1]).testzip() is None",
          path,
        ]);
    }
  });

  it("are a TAR file, plain or compressed, that other programs read", async (t) => {
    using dir = tempDir();
    const plain = await bytesOf(PACKINGS.tar.pack(each(SOME)));
    const path = `${dir.path}/some.tar.gz`;
    await pipeline(Readable.from(PACKINGS["tar.gz"].pack(each(SOME))), createWriteStream(path));
    assert.ok(gunzipSync(readFileSync(path)).equals(plain));
    assert.equal(plain.length % 512, 0);
    if (!(await has("tar", "--version"))) return t.diagnostic("there is no tar here");
    await run("mkdir", [`${dir.path}/out`]);
    await run("tar", ["-xzf", path, "-C", `${dir.path}/out`]);
    for (const one of SOME)
      assert.ok(readFileSync(`${dir.path}/out/${one.path}`).equals(await bytesOf(one.open())), one.path);
    assert.equal(readdirSync(`${dir.path}/out`).length, 5);
  });

  it("give the same bytes each time", async () => {
    for (const name of Object.keys(PACKINGS) as PackingName[]) {
      const [first, second] = [
        await bytesOf(PACKINGS[name].pack(each(SOME))),
        await bytesOf(PACKINGS[name].pack(each(SOME))),
      ];
      assert.ok(first.equals(second), name);
    }
  });

  it("fail with the failure of the file that cannot be read", async () => {
    const broken: PackedFile = {
      path: "broken",
      size: 10,
      shrinks: true,
      // oxlint-disable-next-line require-yield
      async *open(): AsyncGenerator<Uint8Array> {
        throw new Error("the disk is gone");
      },
    };
    for (const { pack } of Object.values(PACKINGS))
      await assert.rejects(bytesOf(pack(each([...SOME, broken]))), /the disk is gone/);
    await assert.rejects(bytesOf(PACKINGS.tar.pack(each([{ ...file("short", noise(1, 5)), size: 6 }]))), /short has 5/);
  });
});
