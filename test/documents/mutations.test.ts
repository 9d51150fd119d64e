import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { detectDocument } from "../../src/documents/detect.ts";
import { DocumentError } from "../../src/documents/document.ts";
import { createDocumentReader } from "../../src/documents/reader.ts";
import { docx, epub, odt, pptx, RTF, xlsx, zipOf } from "../support/document-files.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { readZip } from "../support/zip.ts";
import { fullOnly } from "../support/gate.ts";

const PDF = pdf(
  [1, 2, 3].map((page) => ({
    texts: [
      { text: `Chapter ${page}`, x: 72, y: 790, size: 18 },
      ...column([`Text of page ${page}, with a link.`, "And more."]),
    ],
    links: [{ x: 72, y: 700, width: 100, height: 20, url: "https://example.com/" }],
  })),
  { info: { Title: "Pages" } },
);
const FILES: readonly (readonly [string, Buffer])[] = [
  ["a.pdf", PDF],
  ["a.docx", docx()],
  ["a.xlsx", xlsx()],
  ["a.pptx", pptx()],
  ["a.odt", odt()],
  ["a.epub", epub()],
  ["a.rtf", Buffer.from(RTF, "latin1")],
  ["a.csv", Buffer.from('a,b\n"1",2\n')],
];

const at = (random: Random, length: number) => Math.floor(random.next() * length);

/** Bytes changed, cut out, repeated or swapped. */
function mutated(bytes: Buffer, random: Random): Buffer {
  let result = Buffer.from(bytes);
  const times = 1 + at(random, 8);
  for (let time = 0; time < times && result.length > 4; time += 1) {
    const from = at(random, result.length);
    const length = 1 + at(random, Math.min(200, result.length - from));
    const kind = at(random, 4);
    if (kind === 0) result[from] = at(random, 256);
    else if (kind === 1) result = Buffer.concat([result.subarray(0, from), result.subarray(from + length)]);
    else if (kind === 2) result = Buffer.concat([result.subarray(0, from + length), result.subarray(from)]);
    else result.fill(at(random, 256), from, from + length);
  }
  return result;
}

/** The parts of an archive are changed before they are compressed, because a damaged archive tests only the archive. */
function mutatedFile(bytes: Buffer, random: Random): Buffer {
  if (bytes.subarray(0, 2).toString() !== "PK" || random.next() < 0.3) return mutated(bytes, random);
  const parts = [...readZip(bytes)];
  const changed = at(random, parts.length);
  return zipOf(
    Object.fromEntries(parts.map(([name, part], index) => [name, index === changed ? mutated(part, random) : part])),
  );
}

/** How many files, per outcome: `read`, a problem, or `no document`. */
async function readAll(count: number, seed: number, processes: number): Promise<Map<string, number>> {
  const random = seededRandom(seed);
  const reader = createDocumentReader({ clock: systemClock, processes, timeoutMs: 60_000, memoryMb: 700 });
  const outcomes = new Map<string, number>();
  const outcomeOf = async (name: string, damaged: Buffer) => {
    const type = detectDocument(damaged, null, name);
    if (type === null) return "no document";
    try {
      assert.match((await reader.read(damaged, type)).html, /^<!DOCTYPE html>/);
      return "read";
    } catch (error) {
      assert.ok(error instanceof DocumentError, `${name}: ${String(error)}`);
      assert.doesNotMatch(error.message, /ended its process|of memory/);
      return error.problem;
    }
  };
  let left = count;
  const readSome = async () => {
    while (left > 0) {
      left -= 1;
      const [name, bytes] = FILES[left % FILES.length]!;
      const outcome = await outcomeOf(name, mutatedFile(bytes, random)).catch((error: unknown) => {
        left = 0;
        throw error;
      });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  const both = await Promise.allSettled([readSome(), readSome()]);
  await reader.close();
  const failed = both.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return outcomes;
}

async function givesPagesOrReasons(count: number, seed: number, processes = 2): Promise<void> {
  const before = process.memoryUsage.rss();
  const outcomes = await readAll(count, seed, processes);
  const shown = JSON.stringify([...outcomes]);
  assert.equal(
    [...outcomes.values()].reduce((sum, one) => sum + one),
    count,
  );
  assert.ok((outcomes.get("read") ?? 0) > count / 5, shown);
  assert.ok((outcomes.get("document_damaged") ?? 0) > 0, shown);
  assert.equal(outcomes.get("document_timeout") ?? 0, 0, shown);
  assert.ok(process.memoryUsage.rss() - before < 600e6, "this process keeps nothing of them");
}

describe("any damage to a document gives a page or a reason, never a crash", () => {
  test("60 damaged files", () => givesPagesOrReasons(60, 20_251, 1));

  test("400 damaged files [slow]", () => givesPagesOrReasons(400, 20_252));

  test("5,000 damaged files [slow]", { ...fullOnly, timeout: 1_200_000 }, () => givesPagesOrReasons(5000, 20_253));
});
