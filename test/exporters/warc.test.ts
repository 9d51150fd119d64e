import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Exchange } from "../../src/domain/page/exchange.ts";
import { exchangeRecords, renderedRecords } from "../../src/domain/page/warc.ts";
import { warcArchiver } from "../../src/exporters/warc.ts";
import { readWarc } from "../jobs/warc-reader.ts";

const ABOUT = {
  id: "3b241101-e2bb-4255-8caf-4136c566a962",
  now: 0,
  fileName: "run.warc.gz",
  fields: { robots: "obey" },
};

let serial = 0;
const uuid = () => `00000000-0000-4000-8000-${String((serial += 1)).padStart(12, "0")}`;

const exchange = (more: Partial<Exchange> = {}): Exchange => ({
  url: "https://a.example/page?q=1",
  method: "GET",
  sent: [["host", "a.example"]],
  at: Date.parse("2030-01-01T00:00:00Z"),
  status: 200,
  statusText: "OK",
  headers: [["Content-Type", "text/html"]],
  ...more,
});

async function archived(...records: Buffer[]) {
  const pieces = (async function* () {
    for (const record of records) yield [gzipSync(record)] as unknown as AsyncIterable<Uint8Array>;
  })();
  const chunks: Uint8Array[] = [];
  for await (const chunk of warcArchiver.archive(pieces, ABOUT)) chunks.push(chunk);
  return readWarc(Buffer.concat(chunks));
}

test("warc: an archive without pages is a record about itself", async () => {
  const [info, ...rest] = await archived();
  assert.deepEqual([info?.type, rest.length], ["warcinfo", 0]);
  assert.equal(info?.headers.get("warc-filename"), "run.warc.gz");
  assert.match(info?.payload.toString() ?? "", /robots: obey\r\n$/);
});

test("warc: what lets us in is never written, however it is spelled", async () => {
  const sent = [
    ["host", "a.example"],
    ["Authorization", "Basic c2VjcmV0"],
    ["cookie", "session=secret"],
    ["PROXY-authorization", "secret"],
    ["accept", "text/html"],
  ] as const;
  const [, request] = await archived(...exchangeRecords(exchange({ sent }), Buffer.from("x"), uuid));
  assert.equal(request?.statusLine, "GET /page?q=1 HTTP/1.1");
  assert.deepEqual([...(request?.http.keys() ?? [])].toSorted(), ["accept", "host"]);
});

test("warc: lengths and codings are those of the body that is there, and those that were keep their values", async () => {
  const headers = [
    ["Content-Encoding", "gzip"],
    ["Content-Length", "999"],
    ["X-Many", "1"],
    ["x-many", "2"],
  ] as const;
  const body = Buffer.from([0, 13, 10, 13, 10, 255]);
  const [, , response] = await archived(...exchangeRecords(exchange({ headers }), body, uuid));
  assert.deepEqual(Object.fromEntries(response?.http ?? []), {
    "x-orig-content-encoding": "gzip",
    "x-orig-content-length": "999",
    "x-many": "1, 2",
    "content-length": "6",
  });
  assert.ok(response?.payload.equals(body));
  assert.equal(response?.headers.has("warc-truncated"), false);
});

test("warc: a redirect whose body was not read says so, one without a body does not", async () => {
  const redirect = (length: string) =>
    exchange({
      status: 302,
      statusText: "Found",
      headers: [
        ["Location", "/to"],
        ["Content-Length", length],
      ],
    });
  const [, , cut, , whole] = await archived(
    ...exchangeRecords(redirect("17"), null, uuid),
    ...exchangeRecords(redirect("0"), null, uuid),
  );
  assert.deepEqual([cut?.headers.get("warc-truncated"), cut?.http.get("x-orig-content-length")], ["unspecified", "17"]);
  assert.deepEqual([whole?.headers.has("warc-truncated"), whole?.http.get("content-length")], [false, "0"]);
});

test("warc: a page that a browser has put together is a resource, and no response", async () => {
  const page = {
    url: "https://a.example/",
    html: "<p>\u00e4 \ud83d\ude00</p>",
    at: 0,
    about: [["renderedBy", "x\r\ny"]] as const,
  };
  const [, resource, metadata] = await archived(...renderedRecords(page, uuid));
  assert.deepEqual([resource?.type, resource?.url, resource?.payload.toString()], ["resource", page.url, page.html]);
  assert.deepEqual([metadata?.type, metadata?.payload.toString()], ["metadata", "renderedBy: x y\r\n"]);
});

test("warc: 100,000 pages are pulled one by one, and a consumer that stops early stops the source", async () => {
  const piece = gzipSync(Buffer.from("a record"));
  let [open, mostOpen, pulled, closed] = [0, 0, 0, false];
  async function* file(): AsyncGenerator<Uint8Array> {
    mostOpen = Math.max(mostOpen, (open += 1));
    try {
      yield piece;
    } finally {
      open -= 1;
    }
  }
  async function* files(): AsyncGenerator<AsyncIterable<Uint8Array>> {
    try {
      for (; pulled < 100_000; pulled += 1) yield file();
    } finally {
      closed = true;
    }
  }
  let chunks = 0;
  for await (const chunk of warcArchiver.archive(files(), ABOUT)) {
    chunks += chunk.length > 0 ? 1 : 0;
    assert.ok(pulled <= chunks, "nothing is read ahead");
    if (chunks > 60_000) break;
  }
  assert.deepEqual([mostOpen, open, closed], [1, 0, true]);
});
