import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { BufferSink, discardBody } from "../../src/net/buffer-sink.ts";
import type { HttpLimits } from "../../src/net/http.ts";
import {
  answer,
  type Behaviour,
  drip,
  flood,
  head,
  rawThenClose,
  redirect,
  reset,
  silence,
  startSite,
} from "../support/hostile-site.ts";
import { somePort } from "../support/services.ts";
import { LIMITS, PLENTY, reasonOf, testClient } from "../support/net.ts";

const PAGE = Buffer.from("<p>0123456789 some text that compresses</p>".repeat(2_000));
const NOISE = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 31 + (index >> 3)) & 0xff));
const ENCODERS = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;
const raw = (body: Buffer | string, encoding: string) => answer(200, body, { "content-encoding": encoding });
const CHUNKED = head(200, { "transfer-encoding": "chunked" });

/** What the site does, and how the fetch ends. */
const CASES: [string, Behaviour, string][] = [
  ["hangs before the headers", silence, "timeout/timeout_headers"],
  ["drips its headers", drip("HTTP/1.1 200 OK\r\n", "x-a: b\r\n", 20), "timeout/timeout_headers"],
  ["sends 103 answers without end", drip("", "HTTP/1.1 103 Early Hints\r\n\r\n", 10), "timeout/timeout_headers"],
  [
    "sends 100 answers that nobody asked for",
    drip("", "HTTP/1.1 100 Continue\r\n\r\n", 10),
    "bad_response/malformed_response",
  ],
  [
    "switches protocols",
    rawThenClose("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    "bad_response/malformed_response",
  ],
  [
    "hangs in the middle of the body",
    (socket) => socket.write(`${head(200, { "content-length": 100 })}abc`),
    "timeout/timeout_idle",
  ],
  ["drips its body", drip(head(200, { "content-length": 100_000 }), "x", 20), "timeout/timeout_total"],
  ["resets before the headers", reset(), "network/connection_reset"],
  ["closes before the headers", rawThenClose(""), "network/connection_reset"],
  ["resets within the headers", reset("HTTP/1.1 200 OK\r\nx-a: b"), "network/connection_reset"],
  ["resets within the body", reset(`${head(200, { "content-length": 100 })}abc`), "network/connection_reset"],
  [
    "resets within a body that ends with the connection",
    reset(`${head(200, { connection: "close" })}abc`),
    "network/connection_reset",
  ],
  [
    "sends less than it announced",
    rawThenClose(`${head(200, { "content-length": 100 })}abc`),
    "bad_response/truncated_body",
  ],
  [
    "sends less than it announced and says it closes",
    rawThenClose(`${head(200, { "content-length": 100, connection: "close" })}abc`),
    "bad_response/truncated_body",
  ],
  ["ends within a chunk", rawThenClose(`${CHUNKED}ff\r\nabc`), "bad_response/truncated_body"],
  [
    "ends before the last chunk",
    rawThenClose(`${head(200, { "transfer-encoding": "chunked", connection: "close" })}3\r\nabc\r\n`),
    "bad_response/truncated_body",
  ],
  ["sends a broken chunk size", rawThenClose(`${CHUNKED}3\r\nabc\r\nzz\r\nabc\r\n`), "bad_response/malformed_response"],
  [
    "sends a chunk longer than it said",
    rawThenClose(`${CHUNKED}3\r\nabcdef\r\n0\r\n\r\n`),
    "bad_response/malformed_response",
  ],
  [
    "announces two lengths",
    rawThenClose("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd"),
    "bad_response/malformed_response",
  ],
  [
    "announces a length that is no number",
    rawThenClose("HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nabc"),
    "bad_response/malformed_response",
  ],
  ["talks something else", rawThenClose("SSH-2.0-OpenSSH_9.6\r\n"), "bad_response/malformed_response"],
  ["answers with noise", rawThenClose(NOISE), "bad_response/malformed_response"],
  [
    "sends one absurd header",
    rawThenClose(head(200, { "x-large": "x".repeat(200_000) })),
    "bad_response/headers_too_large",
  ],
  [
    "sends very many headers",
    rawThenClose(`HTTP/1.1 200 OK\r\n${"x-many: value\r\n".repeat(10_000)}\r\n`),
    "bad_response/headers_too_large",
  ],
  [
    "announces more than the limit",
    (socket) => socket.write(head(200, { "content-length": 2 ** 40 })),
    "bad_response/body_too_large",
  ],
  ["sends a body without end", flood(head(200), Buffer.alloc(64 * 1024, "x")), "bad_response/body_too_large"],
  [
    "sends chunks without end",
    flood(CHUNKED, Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`)),
    "bad_response/body_too_large",
  ],
  ["redirects to itself", redirect("/"), "bad_response/too_many_redirects"],
  [
    "redirects for ever to new pages",
    redirect(({ path }) => `/?n=${path.length}${path}`),
    "bad_response/too_many_redirects",
  ],
  ["redirects nowhere", answer(302, ""), "bad_response/bad_redirect"],
  [
    "redirects to two places",
    rawThenClose("HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n"),
    "bad_response/bad_redirect",
  ],
  ["redirects to nonsense", redirect("http://[::1"), "bad_response/bad_redirect"],
  ["redirects to a file", redirect("file:///etc/passwd"), "forbidden_target/scheme_not_allowed"],
  ["redirects to ftp", redirect("ftp://example.com/"), "forbidden_target/scheme_not_allowed"],
  ["redirects to a script", redirect("javascript:alert(1)"), "forbidden_target/scheme_not_allowed"],
  ["uses an unknown encoding", raw("abc", "lzma"), "bad_response/unsupported_encoding"],
  ["encodes three times over", raw("abc", "gzip, gzip, gzip"), "bad_response/unsupported_encoding"],
  ["sends noise as gzip", raw(NOISE, "gzip"), "bad_response/decompression_failed"],
  ["sends text as br", raw("this is not brotli at all", "br"), "bad_response/decompression_failed"],
  ["sends text as zstd", raw("this is not zstd at all", "zstd"), "bad_response/decompression_failed"],
  ["sends text as deflate", raw("this is not deflate at all", "deflate"), "bad_response/decompression_failed"],
  ["damages a gzip body", raw(damaged(gzipSync(PAGE)), "gzip"), "bad_response/decompression_failed"],
];
for (const [coding, encode] of Object.entries(ENCODERS)) {
  const small = encode(PAGE);
  const large = encode(Buffer.concat([NOISE, NOISE.map((byte, index) => byte ^ (index >> 8))]));
  CASES.push([
    `cuts a small ${coding} body`,
    raw(small.subarray(0, small.length - 20), coding),
    "bad_response/truncated_body",
  ]);
  CASES.push([
    `cuts a large ${coding} body`,
    raw(large.subarray(0, Math.floor(large.length / 2)), coding),
    "bad_response/truncated_body",
  ]);
  CASES.push([
    `sends a ${coding} bomb`,
    raw(encode(Buffer.alloc(16 * 1024 * 1024)), coding),
    "bad_response/decompression_limit",
  ]);
}
CASES.push([
  "sends a bomb within a bomb",
  raw(gzipSync(gzipSync(Buffer.alloc(32 * 1024 * 1024))), "gzip, gzip"),
  "bad_response/decompression_limit",
]);

function damaged(body: Buffer): Buffer {
  const copy = Buffer.from(body);
  copy.fill(0xff, Math.floor(copy.length / 2), Math.floor(copy.length / 2) + 8);
  return copy;
}

/** Only what the case is about is cut short. */
function limitsFor(expected: string): Partial<HttpLimits> {
  const { connectMs, headersMs, idleMs, totalMs } = LIMITS as HttpLimits;
  const short = { connect: { connectMs }, headers: { headersMs }, idle: { idleMs }, total: { totalMs } };
  const about = /^timeout\/timeout_(connect|headers|idle|total)$/.exec(expected)?.[1] as keyof typeof short | undefined;
  return { ...LIMITS, ...PLENTY, ...(about === undefined ? {} : short[about]) };
}

describe("a site that", { concurrency: 8 }, () => {
  for (const [name, behaviour, expected] of CASES) {
    it(`${name} ends with ${expected}`, async () => {
      await using site = await startSite({ "/": behaviour });
      await using client = testClient({ limits: limitsFor(expected) });
      assert.equal(await reasonOf(client.fetch({ url: site.url("/") }, new BufferSink())), expected);
    });
  }

  it("is not there ends with network/connection_refused", async () => {
    const url = `http://127.0.0.1:${await somePort()}/`;
    await using client = testClient({ limits: { ...LIMITS, ...PLENTY } });
    assert.equal(await reasonOf(client.fetch({ url }, discardBody)), "network/connection_refused");
  });

  it("never resolves ends with timeout/timeout_connect", async () => {
    await using client = testClient({ limits: LIMITS, lookup: () => new Promise(() => {}) });
    assert.equal(await reasonOf(client.fetch({ url: "http://slow.test/" }, discardBody)), "timeout/timeout_connect");
  });

  it("does not speak TLS ends with network/tls_failed", async () => {
    // A TLS greeting never contains an empty line, so the site would wait; it answers as soon as it is connected.
    await using site = await startSite({});
    site.greet("HTTP/1.1 400 Bad Request\r\n\r\n");
    await using client = testClient({ limits: { ...LIMITS, ...PLENTY } });
    assert.equal(
      await reasonOf(client.fetch({ url: site.url("/").replace("http:", "https:") }, discardBody)),
      "network/tls_failed",
    );
  });
});
