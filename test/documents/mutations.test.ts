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
import { FULL } from "../support/gate.ts";
import { read } from "./kit.ts";

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

const FULL_ONLY = { skip: !FULL && "only in the full run" };

describe("damaged documents", FULL_ONLY, () => {
  test("any damage gives a page or a reason, never a crash [slow]", async () => {
    const random = seededRandom(20_251);
    for (let round = 0; round < 12; round += 1)
      for (const [name, bytes] of FILES) {
        const damaged = mutatedFile(bytes, random);
        if (detectDocument(damaged, null, name) === null) continue;
        try {
          assert.match((await read(damaged, name)).html, /^<!DOCTYPE html>/);
        } catch (error) {
          assert.ok(error instanceof DocumentError, `${name}: ${String(error)}`);
        }
      }
  });

  test(
    "5,000 of them are read by the same few processes, in bounded memory [slow]",
    { timeout: 1_200_000 },
    async () => {
      const random = seededRandom(20_252);
      const reader = createDocumentReader({ clock: systemClock, processes: 2, timeoutMs: 60_000, memoryMb: 700 });
      const reasons = new Map<string, number>();
      const count = (reason: string) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      const before = process.memoryUsage.rss();
      try {
        let left = 5000;
        const work = async () => {
          while (left > 0) {
            left -= 1;
            const [name, bytes] = FILES[left % FILES.length]!;
            const damaged = mutatedFile(bytes, random);
            const type = detectDocument(damaged, null, name);
            if (type === null) {
              count("no document");
              continue;
            }
            await reader.read(damaged, type).then(
              () => count("read"),
              (error: unknown) => {
                assert.ok(error instanceof DocumentError, String(error));
                assert.doesNotMatch(error.message, /ended its process|of memory/);
                count(error.problem);
              },
            );
          }
        };
        await Promise.all([work(), work()]);
      } finally {
        await reader.close();
      }
      assert.equal(
        [...reasons.values()].reduce((sum, one) => sum + one),
        5000,
      );
      assert.ok((reasons.get("read") ?? 0) > 1000, JSON.stringify([...reasons]));
      assert.equal(reasons.get("document_timeout") ?? 0, 0, JSON.stringify([...reasons]));
      assert.ok(process.memoryUsage.rss() - before < 600e6, "this process keeps nothing of them");
    },
  );
});
