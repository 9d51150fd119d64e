import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type Clock, systemClock, type Timer } from "../../src/base/clock.ts";
import { detectDocument } from "../../src/documents/detect.ts";
import { DocumentError, type DocumentProblem } from "../../src/documents/document.ts";
import { commandWords, ocrCommand } from "../../src/documents/ocr.ts";
import { ocrEndpoint } from "../../src/pages/ocr-endpoint.ts";
import { createDocumentReader, type DocumentReaderOptions } from "../../src/documents/reader.ts";
import { docx, odt, zipOf } from "../support/document-files.ts";
import { MisbehavingSite } from "../support/misbehaving-site.ts";
import { json, status } from "../support/misbehaviours.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { read } from "./kit.ts";

async function refusal(reading: Promise<unknown>): Promise<[DocumentProblem, string]> {
  const error: unknown = await reading.then(
    () => assert.fail("it was read"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DocumentError, String(error));
  return [error.problem, error.message];
}

const CONTENT_TYPES = { "[Content_Types].xml": "<Types/>" };
const word = (document: string | Buffer) => zipOf({ ...CONTENT_TYPES, "word/document.xml": document });

test("a page that quotes the start of a PDF file is no PDF file", () => {
  const quote = Buffer.from("A file starts with %PDF-1.7, and ends with %%EOF.");
  assert.deepEqual(
    ["text/plain", "text/markdown", "application/octet-stream", "application/pdf"].map((type) =>
      detectDocument(quote, type, "about"),
    ),
    [null, null, "pdf", "pdf"],
  );
});

describe("a document that cannot be read says why", () => {
  test("a password", async () => {
    const problem = "document_encrypted";
    assert.equal((await refusal(read(pdf([{ texts: column(["secret"]) }], { encrypted: true }))))[0], problem);
    assert.equal((await refusal(read(odt('<manifest:encryption-data manifest:checksum="x"/>'))))[0], problem);
    assert.equal(
      (await refusal(read(zipOf({ ...CONTENT_TYPES, "word/document.xml": "x" }, { encrypted: true }))))[0],
      problem,
    );
    const ole = Buffer.concat([
      Buffer.from("d0cf11e0a1b11ae1", "hex"),
      Buffer.alloc(600),
      Buffer.from("EncryptedPackage", "utf16le"),
    ]);
    assert.equal((await refusal(read(ole)))[0], problem);
  });

  test("a file of an old Office, with what to do", async () => {
    const [problem, message] = await refusal(
      read(Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)])),
    );
    assert.equal(problem, "document_unsupported");
    assert.match(message, /use \.docx/);
  });

  test("a file that was cut off, or is not what it seems", async () => {
    const whole = docx();
    assert.equal((await refusal(read(whole.subarray(0, whole.length - 200))))[0], "document_damaged");
    assert.equal((await refusal(read(Buffer.from("%PDF-1.7\nnothing more"))))[0], "document_damaged");
    assert.equal((await refusal(read(zipOf({ ...CONTENT_TYPES, "word/other.xml": "x" }))))[0], "document_damaged");
  });

  test("a scanned PDF", async () => {
    assert.equal((await refusal(read(pdf([{}, {}, {}]))))[0], "needs_ocr");
  });

  test("a bomb: compressed, overlapping, or of entities", async () => {
    const bomb = word(Buffer.concat([Buffer.from("<w:document><w:body>"), Buffer.alloc(3_000_000, "<w:p></w:p>")]));
    assert.ok(bomb.length < 50_000);
    assert.equal((await refusal(read(bomb, "", { inflatedBytes: 1_000_000 })))[0], "document_too_large");
    const entities = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><w:document><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>`;
    const [problem, message] = await refusal(read(word(entities)));
    assert.deepEqual([problem, message.includes("entities")], ["document_damaged", true]);
    const text = Buffer.concat([Buffer.from("<w:document><w:t>"), Buffer.alloc(20_000_000, "endless ")]);
    assert.equal((await refusal(read(word(text))))[0], "document_damaged");
    const nested = `${"<w:x>".repeat(5000)}`;
    assert.equal((await refusal(read(word(nested))))[0], "document_damaged");
  });

  test("a document with more text than allowed is cut, and says so", async () => {
    const long = await read(docx(`<w:p><w:r><w:t>${"many words ".repeat(20)}</w:t></w:r></w:p>`.repeat(500)), "", {
      htmlLength: 20_000,
    });
    assert.match(long.truncated ?? "", /longer than 20,000 characters of HTML/);
    assert.ok(long.html.length < 21_000);
    const pages = await read(
      pdf(Array.from({ length: 5 }, (_, page) => ({ texts: column([`The text of page ${page}.`]) }))),
      "",
      { pages: 3 },
    );
    assert.deepEqual(
      [pages.truncated, pages.pageCount],
      ["only the first 3 of 5 pages were read: a PDF may have 3 pages", 5],
    );
  });

  test("pages and other files are no documents", () => {
    assert.equal(detectDocument(Buffer.from("<html>%PDF-1.4 is a header</html>"), "text/html", "/a"), null);
    assert.equal(detectDocument(Buffer.from("just words"), "text/plain", "/a.txt"), null);
    assert.equal(detectDocument(zipOf({ "a.txt": "x" }), "application/zip", "/a.zip"), null);
    assert.equal(detectDocument(Buffer.from("\x89PNG\r\n\x1a\n"), "image/png", "/a.csv"), null);
    assert.equal(
      detectDocument(Buffer.from("<html><a>1,2</a></html>"), "text/csv", "/a.csv"),
      null,
      "an error page in place of a file",
    );
  });
});

const LIMIT_MS = 777_000;

/** The time limit of a document passes only when the test says so. */
class LimitClock implements Clock {
  readonly #started = Promise.withResolvers<() => void>();
  readonly started = this.#started.promise;
  now = () => systemClock.now();
  monotonic = () => systemClock.monotonic();

  after(...args: Parameters<Clock["after"]>): Timer {
    const [ms, call] = args;
    if (ms !== LIMIT_MS) return systemClock.after(...args);
    this.#started.resolve(call);
    return { cancel: () => {} };
  }
}

describe("documents are read in processes of their own [slow]", () => {
  const open = (options: Partial<DocumentReaderOptions> = {}) =>
    createDocumentReader({ clock: systemClock, processes: 1, ...options });

  test("a document that takes too long ends alone, and the next one is read", async () => {
    const clock = new LimitClock();
    const reader = open({ clock, timeoutMs: LIMIT_MS, limits: { inflatedBytes: 4e9, htmlLength: 4e9 } });
    try {
      const endless = word(
        Buffer.concat([Buffer.from("<w:document><w:body>"), Buffer.alloc(60_000_000, "<w:p></w:p>")]),
      );
      const slow = refusal(reader.read(endless, "docx"));
      (await clock.started)();
      const next = reader.read(docx(), "docx");
      assert.equal((await slow)[0], "document_timeout");
      assert.match((await next).html, /Annual Report/);
    } finally {
      await reader.close();
    }
  });

  test("a document that needs too much memory ends alone", async () => {
    const reader = open({ memoryMb: 220, limits: { inflatedBytes: 4e9, htmlLength: 4e9 } });
    try {
      // A table is written when it ends, and this one never does.
      const rows = Buffer.alloc(120_000_000, "<w:p><w:r><w:t>words</w:t></w:r></w:p>");
      const large = word(Buffer.concat([Buffer.from("<w:document><w:tbl><w:tr><w:tc>"), rows]));
      assert.equal((await refusal(reader.read(large, "docx")))[0], "document_too_large");
      assert.match((await reader.read(docx(), "docx")).html, /Annual Report/);
    } finally {
      await reader.close();
    }
  });

  test("files of 50 MB are read within the limits", async () => {
    const reader = open();
    try {
      const media = randomBytes(50_000_000);
      const withPictures = zipOf({
        ...CONTENT_TYPES,
        "word/document.xml": "<w:document><w:p><w:r><w:t>Between pictures</w:t></w:r></w:p></w:document>",
        "word/media/image1.bin": media,
      });
      assert.match((await reader.read(withPictures, "docx")).html, /Between pictures/);
      const study = pdf([{ texts: column(["A study with a large attachment."]) }]);
      const large = Buffer.concat([
        study,
        Buffer.from("\n99 0 obj\n<< /Length 50000000 >>\nstream\n"),
        media,
        Buffer.from("\nendstream\nendobj\n"),
        study.subarray(study.indexOf("xref\n")),
      ]);
      assert.match((await reader.read(large, "pdf")).html, /large attachment/);
      const rows = `<row>${'<c t="str"><v>a cell of the sheet</v></c>'.repeat(10)}</row>`;
      const sheet = Buffer.concat([
        Buffer.from("<worksheet><sheetData>"),
        Buffer.alloc(50_000_000 - (50_000_000 % rows.length), rows),
      ]);
      const book = zipOf({
        ...CONTENT_TYPES,
        "xl/workbook.xml": `<workbook><sheets><sheet name="Data" r:id="s1"/></sheets></workbook>`,
        "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="s1" Type="x/worksheet" Target="sheet1.xml"/></Relationships>`,
        "xl/sheet1.xml": sheet,
      });
      const read = await reader.read(book, "xlsx");
      assert.match(read.truncated ?? "", /cut off/, "a page has no room for all of it");
      assert.ok(read.html.length < 13_000_000 && read.html.includes("a cell of the sheet"));
      const table = Buffer.alloc(50_000_000, "name,price,colour\n");
      assert.match((await reader.read(table, "csv")).truncated ?? "", /cut off/);
    } finally {
      await reader.close();
    }
  });

  test("a read that nobody waits for any more is ended", async () => {
    const reader = open();
    try {
      const gone = new AbortController();
      const reading = reader.read(docx(), "docx", { signal: gone.signal });
      gone.abort(new Error("left"));
      await assert.rejects(reading, /left/);
      assert.match((await reader.read(docx(), "docx")).html, /Annual Report/);
    } finally {
      await reader.close();
    }
    await assert.rejects(reader.read(docx(), "docx"), /stopping/);
  });

  test("a scanned document is read by the user's own program, as text or as PDF", async () => {
    const env = { PATH: process.env["PATH"] ?? "" };
    const scanned = pdf([{}, {}]);
    const by = (command: string) =>
      open({ ocr: ocrCommand({ command: commandWords(command), timeoutMs: 60_000, env, clock: systemClock }) });
    const text = by(`node -e "process.stdin.resume().on('end', () => process.stdout.write('Page one\\f Page two'))"`);
    const failing = by(`node -e "process.stderr.write('no languages'); process.exit(3)"`);
    const missing = by("no-such-program-anywhere");
    try {
      const read = await text.read(scanned, "pdf");
      assert.deepEqual([read.type, read.pageCount], ["pdf", 2]);
      assert.match(read.html, /data-page="2">\s*<p>Page two/);
      const [problem, message] = await refusal(failing.read(scanned, "pdf"));
      assert.deepEqual([problem, message.includes("exit code 3: no languages")], ["needs_ocr", true], message);
      assert.match((await refusal(missing.read(scanned, "pdf")))[1], /cannot be started/);
    } finally {
      await Promise.all([text.close(), failing.close(), missing.close()]);
    }
  });

  test("a scanned document is read by the user's own server, in a private network, with its password", async () => {
    const scanned = pdf([{}, {}]);
    const asked: { type: string; authorization: string; isPdf: boolean }[] = [];
    await using site = await MisbehavingSite.start({
      "/ocr": (visit, response) => {
        const { "content-type": type = "", authorization = "" } = visit.headers;
        asked.push({ type, authorization, isPdf: visit.body.startsWith("%PDF-") });
        response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end("Page one\fPage two");
      },
      "/pdf": (_visit, response) =>
        void response.end(pdf([{ texts: column(["The recognised text of the first page."]) }, {}])),
      "/json": json({ text: "no" }),
      "/busy": status(503),
      "/moved": (_visit, response) => void response.writeHead(302, { location: "/ocr" }).end(),
      "/nothing": (_visit, response) => void response.writeHead(200, { "content-type": "text/plain" }).end(" \f "),
    });
    const by = (url: string) =>
      open({ ocr: ocrEndpoint({ url, timeoutMs: 60_000, userAgent: "test", clock: systemClock }) });
    const says = async (url: string) => {
      const reader = by(url);
      try {
        return (await refusal(reader.read(scanned, "pdf"))).join(": ");
      } finally {
        await reader.close();
      }
    };
    const [text, made] = [by(site.url("/ocr").replace("//", "//ada:se%20cret@")), by(site.url("/pdf"))];
    try {
      const read = await text.read(scanned, "pdf");
      assert.deepEqual([read.type, read.pageCount], ["pdf", 2]);
      assert.match(read.html, /data-page="2">\s*<p>Page two/);
      const authorization = `Basic ${Buffer.from("ada:se cret").toString("base64")}`;
      assert.deepEqual(asked, [{ type: "application/pdf", authorization, isPdf: true }]);
      assert.match((await made.read(scanned, "pdf")).html, /recognised text/);
    } finally {
      await Promise.all([text.close(), made.close()]);
    }
    assert.match(await says(site.url("/json")), /^needs_ocr: .*APP_OCR_URL answered application\/json: expected a PDF/);
    assert.match(await says(site.url("/busy")), /APP_OCR_URL answered 503/);
    assert.match(await says(site.url("/moved")), /redirects are not followed/);
    assert.match(await says(site.url("/nothing")), /APP_OCR_URL found no text in them/);
    assert.match(await says("http://127.0.0.1:9/ocr"), /APP_OCR_URL cannot be reached/);
    assert.equal(asked.length, 1);
  });

  test("closing ends a program for OCR with all that it has started, and none starts for a user who has left", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orb-ocr-"));
    const told = join(folder, "pid");
    const env = { PATH: process.env["PATH"] ?? "" };
    // The child of the program tells its id, and would hold the output open.
    const command = ["sh", "-c", `sleep 600 & echo $! > ${told}.new; mv ${told}.new ${told}; wait`];
    const reader = open({ ocr: ocrCommand({ command, timeoutMs: 300_000, env, clock: systemClock }) });
    try {
      const left = reader.read(pdf([{}]), "pdf", { signal: AbortSignal.abort(new Error("left")) });
      await assert.rejects(left, /left/);
      assert.equal(existsSync(told), false);
      const reading = assert.rejects(reader.read(pdf([{}]), "pdf"), /stopping/);
      while (!existsSync(told)) await wait(20);
      const pid = Number(readFileSync(told, "utf8"));
      assert.ok(isRunning(pid));
      await reader.close();
      await reading;
      while (isRunning(pid)) await wait(20);
    } finally {
      await reader.close();
      rmSync(folder, { recursive: true });
    }
  });
});

/** Not one that has ended and waits to be collected. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(sleep\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
