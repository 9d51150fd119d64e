import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { gate, optionalGate } from "../support/gate.ts";
import { tempDir } from "../support/temp-dir.ts";
import { asFodt, asHtml, type Block, makeDocument, type Shares, sharesOf } from "./corpus.ts";
import { readPage } from "./kit.ts";

const LEAST: Shares = { text: 0.99, cells: 0.95, headings: 0.95 };
const DOCUMENTS = [11, 12, 13].map(makeDocument);

const chromium = process.env["ORB_TEST_CHROMIUM"] ?? "";
const office =
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "soffice"))
    .find((path) => existsSync(path)) ?? "";
const browserGate = gate("PDF files of Chromium", chromium !== "", "no Chromium (ORB_TEST_CHROMIUM is empty)");
// Larger than everything else that the tests install: it is used where it is, which is nowhere in CI.
const officeGate = optionalGate(
  "files of LibreOffice",
  office !== "",
  "no LibreOffice (soffice is not on the path); install it to read again what it writes",
);

async function meets(what: string, blocks: readonly Block[], bytes: Buffer): Promise<void> {
  const shares = sharesOf(blocks, await readPage(bytes));
  for (const [name, least] of Object.entries(LEAST))
    assert.ok(shares[name as keyof Shares] >= least, `${what}: ${JSON.stringify(shares)}`);
}

describe("what programs write is read again", () => {
  test("a PDF that Chromium has printed [slow]", browserGate, async () => {
    using folder = tempDir();
    const dir = folder.path;
    for (const [index, blocks] of DOCUMENTS.entries()) {
      const page = join(dir, `${index}.html`);
      writeFileSync(page, asHtml(blocks));
      const options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-pdf-header-footer",
        `--user-data-dir=${join(dir, "profile")}`,
      ];
      execFileSync(chromium, [...options, `--print-to-pdf=${join(dir, "page.pdf")}`, `file://${page}`], {
        stdio: "ignore",
      });
      const bytes = readFileSync(join(dir, "page.pdf"));
      await meets(`document ${index}`, blocks, bytes);
      const { markdown } = await readPage(bytes);
      for (const block of blocks)
        if (block.kind === "list")
          for (const item of block.items) assert.match(markdown, new RegExp(`^(?:-|\\d\\.) ${item}$`, "m"));
    }
  });

  for (const format of ["pdf", "docx", "odt", "rtf"])
    test(`a ${format} file of LibreOffice [slow]`, officeGate, async () => {
      using folder = tempDir();
      const dir = folder.path;
      for (const [index, blocks] of DOCUMENTS.entries()) {
        const source = join(dir, `${index}.fodt`);
        writeFileSync(source, asFodt(blocks));
        const options = [
          `-env:UserInstallation=file://${join(dir, "profile")}`,
          "--headless",
          "--convert-to",
          format,
          "--outdir",
          dir,
        ];
        execFileSync(office, [...options, source], { stdio: "ignore", env: { ...process.env, HOME: dir } });
        await meets(`document ${index}`, blocks, readFileSync(join(dir, `${index}.${format}`)));
      }
    });
});
