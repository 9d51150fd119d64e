import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { seededRandom } from "../../src/base/random.ts";
import { Orb, report } from "../chaos/orb.ts";
import { Served } from "../chaos/served.ts";
import { treeOf } from "../fetch/browser/processes.ts";
import { Crawler } from "../jobs/crawler.ts";
import { zipOf } from "../support/document-files.ts";
import { fullOnly } from "../support/gate.ts";
import { MisbehavingSite, type Route } from "../support/misbehaving-site.ts";
import { html } from "../support/misbehaviours.ts";
import { densePdf } from "../support/pdf-files.ts";

const MB = 1_000_000;
const SIZE = 50 * MB;
/** Random content is repeated after this many bytes: further than compression looks back. */
const BLOCK = 2 * MB;

const random = seededRandom(4711);
const word = () => Math.floor(random.next() * 36 ** 5).toString(36);

/** As much of what `part` gives as fits, to the byte of a part. */
function filled(bytes: number, part: (n: number) => string): Buffer {
  const parts: string[] = [];
  for (let n = 0, length = 0; length < Math.min(bytes, BLOCK); n += 1) {
    parts.push(part(n));
    length += parts.at(-1)!.length;
  }
  const block = Buffer.from(parts.join(""));
  return Buffer.concat(Array.from({ length: Math.max(1, Math.floor(bytes / block.length)) }, () => block));
}

/** A ZIP file of `SIZE`, of which almost all is this one part. */
function zipWith(name: string, head: string, part: (n: number) => string, foot: string, others: object): Buffer {
  const sample = filled(BLOCK, part);
  const ratio = zipOf({ a: sample }).length / sample.length;
  const content = Buffer.concat([Buffer.from(head), filled(SIZE / ratio, part), Buffer.from(foot)]);
  return zipOf({ "[Content_Types].xml": "<Types/>", ...others, [name]: content });
}

const FILES: Readonly<Record<string, { type: string; make(): Buffer }>> = {
  "/lines.pdf": { type: "application/pdf", make: () => densePdf(SIZE) },
  "/text.docx": {
    type: "application/octet-stream",
    make: () =>
      zipWith(
        "word/document.xml",
        '<w:document xmlns:w="w"><w:body>',
        () => `<w:p><w:r><w:t>${Array.from({ length: 12 }, word).join(" ")}</w:t></w:r></w:p>`,
        "</w:body></w:document>",
        {},
      ),
  },
  "/numbers.xlsx": {
    type: "application/octet-stream",
    make: () =>
      zipWith(
        "xl/sheet1.xml",
        "<worksheet><sheetData>",
        () => `<row>${Array.from({ length: 8 }, () => `<c><v>${random.next()}</v></c>`).join("")}</row>`,
        "</sheetData></worksheet>",
        {
          "xl/workbook.xml": `<workbook><sheets><sheet name="Data" r:id="s1"/></sheets></workbook>`,
          "xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="s1" Type="x/worksheet" Target="sheet1.xml"/></Relationships>`,
        },
      ),
  },
  "/rows.csv": {
    type: "text/csv",
    make: () => filled(SIZE, (n) => `${n},${word()},"${word()}, ${word()}",${random.next()}\n`),
  },
};

/** The largest amount of memory that each kind of process had. */
class Peaks {
  readonly peaks = { server: 0, documents: 0 };
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      for (const { pid: own, command, residentBytes } of treeOf(pid)) {
        const name = own === pid ? "server" : command.includes("documents") ? "documents" : null;
        if (name !== null) this.peaks[name] = Math.max(this.peaks[name], Math.round(residentBytes / MB));
      }
    }, 100);
  }

  [Symbol.dispose]() {
    clearInterval(this.#timer);
  }
}

interface Outcome {
  url: string;
  document_warning?: string;
  failure_reason?: string;
}

describe("files of 50 MB full of content", () => {
  async function crawl(env: Record<string, string>) {
    const links = Object.keys(FILES).map((path) => `<a href="${path}">${path}</a>`);
    await using site = await MisbehavingSite.start({
      "/": html(`<title>Files</title><main>${links.join(" ")}</main>`),
    });
    for (const [path, { type, make }] of Object.entries(FILES)) {
      const bytes = make();
      assert.ok(bytes.length > 0.9 * SIZE && bytes.length < 1.1 * SIZE, `${path}: ${bytes.length} bytes`);
      const route: Route = (_visit, response) => void response.writeHead(200, { "content-type": type }).end(bytes);
      site.on(path, route);
    }
    await using orb = new Orb({ APP_HTTP_TIMEOUT_SECONDS: "120", ...env });
    const served = await Served.start(orb);
    using memory = new Peaks(served.process.pid);
    const crawler = new Crawler(served);
    const { view, items, errors } = await crawler.crawl({ url: site.url("/"), max_depth: 1, retry_attempts: 1 });
    const outcomes = [...(items as Outcome[]), ...(errors as Outcome[])].map((one) => [new URL(one.url).pathname, one]);
    await served.terminated();
    await orb.audit();
    return { view, outcomes: Object.fromEntries(outcomes) as Record<string, Outcome>, peaks: memory.peaks };
  }

  test("are read as far as the limits allow, and say what is missing", { ...fullOnly, timeout: 900_000 }, async () => {
    const { view, outcomes, peaks } = await crawl({ APP_MAX_BODY_BYTES: String(64 * MB) });
    report("documents of 50 MB", { "MB of the server": peaks.server, "MB of a reader": peaks.documents });
    for (const path of Object.keys(FILES)) {
      const { document_warning: warning, failure_reason: reason } = outcomes[path] ?? { url: path };
      report(path, { outcome: reason ?? warning ?? "read as a whole" });
      if (reason === undefined) assert.match(warning ?? "", /cut off|pages were read/, path);
      else assert.match(reason, /^document_(?:too_large|timeout)$/, path);
    }
    assert.equal(view.status, "completed", JSON.stringify(view));
    // 1 GiB, and what is allocated until the process is next looked at.
    assert.ok(peaks.documents <= 1400, `${peaks.documents} MB`);
    assert.ok(peaks.server <= 1200, `${peaks.server} MB`);
  });

  test("are refused by default, which leaves the crawl complete", { ...fullOnly, timeout: 300_000 }, async () => {
    const { view, outcomes } = await crawl({});
    for (const path of Object.keys(FILES)) assert.equal(outcomes[path]?.failure_reason, "document_too_large", path);
    assert.equal(view.status, "completed", JSON.stringify(view));
  });
});
