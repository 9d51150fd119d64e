import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { ReadDocument } from "../../src/documents/document.ts";
import { createDocumentReader, type DocumentReaderOptions } from "../../src/documents/reader.ts";
import { fullOnly } from "../support/gate.ts";
import { densePdf } from "../support/pdf-files.ts";
import { read } from "./kit.ts";

async function readLarge(bytes: Buffer, options: Partial<DocumentReaderOptions> = {}): Promise<ReadDocument> {
  const reader = createDocumentReader({ clock: systemClock, processes: 1, ...options });
  try {
    return await reader.read(bytes, "pdf");
  } finally {
    await reader.close();
  }
}

const pagesIn = ({ html }: ReadDocument) => html.match(/<section data-page=/g)?.length ?? 0;

/** All of it, or its first pages with the reason. */
function isWholeOrSaysWhy(document: ReadDocument, least: number): void {
  const { html, pageCount, truncated } = document;
  assert.match(html, /Section 1 begins[^]*report[^]*revenue/);
  if (truncated === null) assert.equal(pagesIn(document), pageCount);
  else assert.match(truncated, /^only the first [\d,]+ of [\d,]+ pages were read: (?:reading more|they fill)|cut off/);
  assert.ok(pagesIn(document) >= least, `${pagesIn(document)} of ${pageCount} pages: ${truncated}`);
}

describe("large PDF files full of text", () => {
  test("a file that takes too long ends with the pages that were read, and says so", async () => {
    const file = densePdf(200_000);
    const cut = await read(file, "", { readMs: 0 });
    assert.equal(
      cut.truncated,
      `only the first 1 of ${cut.pageCount} pages were read: reading more of them takes too long`,
    );
    assert.match(cut.html, /data-page="1"[^]*Section 1 begins/);
    assert.equal(pagesIn(cut), 1);
    assert.equal((await read(file)).truncated, null);
  });

  test("3 MB of words one by one are read as a whole [slow]", async () => {
    const document = await readLarge(densePdf(3e6, { gap: 20 }));
    assert.equal(document.truncated, null);
    isWholeOrSaysWhy(document, 100);
  });

  test("in a second and a half, a part of them is read [slow]", async () => {
    // The time counts from when the process is ready: under load a page may take all of it.
    isWholeOrSaysWhy(await readLarge(densePdf(8e6), { limits: { readMs: 1500 } }), 1);
  });

  for (const [name, gap] of [
    ["lines", 3],
    ["words one by one", 20],
  ] as const)
    test(
      `50 MB of ${name} stay within the limits of time and memory [slow]`,
      { ...fullOnly, timeout: 300_000 },
      async () => {
        isWholeOrSaysWhy(await readLarge(densePdf(50e6, { gap })), 20);
      },
    );
});
