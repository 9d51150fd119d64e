import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
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
import { reasonOf, testClient } from "../support/net.ts";

const LIMITS: Partial<HttpLimits> = {
  connectMs: 300,
  headersMs: 200,
  idleMs: 200,
  totalMs: 600,
  maxBodyBytes: 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
};
const PLENTY: Partial<HttpLimits> = { connectMs: 20_000, headersMs: 20_000, idleMs: 20_000, totalMs: 20_000 };
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

/** There is plenty of time for all that the case is not about, however busy the machine is. */
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
    const site = await startSite({});
    const url = site.url("/");
    await site[Symbol.asyncDispose]();
    await using client = testClient({ limits: LIMITS });
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
    await using client = testClient({ limits: LIMITS });
    assert.equal(
      await reasonOf(client.fetch({ url: site.url("/").replace("http:", "https:") }, discardBody)),
      "network/tls_failed",
    );
  });
});

describe("a body", () => {
  it("arrives decoded, whatever the coding, small or large", async () => {
    await using site = await startSite({});
    await using client = testClient({ limits: { maxBodyBytes: 8 * 1024 * 1024 } });
    const big = Buffer.concat(
      [PAGE, ...Array.from({ length: 40 }, (_, index) => NOISE.map((byte) => byte ^ index))].slice(0, 12),
    );
    const encoders = {
      ...ENCODERS,
      deflate: deflateRawSync,
      Deflate: deflateSync,
      "gzip, br": (body: Buffer) => brotliCompressSync(gzipSync(body)),
      identity: (body: Buffer) => body,
    };
    for (const [coding, encode] of Object.entries(encoders)) {
      for (const body of [PAGE, big, Buffer.alloc(4 * 1024 * 1024)]) {
        site.on("/", raw(encode(body), coding));
        const sink = new BufferSink();
        const result = await client.fetch({ url: site.url("/") }, sink);
        assert.ok(sink.body().equals(body), `${coding}, ${body.length} bytes`);
        assert.equal(result.bytes, body.length);
        assert.equal(result.encoded, coding !== "identity");
      }
    }
    site.on("/", raw("", "gzip"));
    assert.equal((await client.fetch({ url: site.url("/") }, new BufferSink())).bytes, 0);
  });

  it("longer than announced is cut at its announced length", async () => {
    await using site = await startSite({ "/": rawThenClose(`${head(200, { "content-length": 3 })}abcdef`) });
    await using client = testClient();
    const sink = new BufferSink();
    await client.fetch({ url: site.url("/") }, sink);
    assert.equal(sink.text(), "abc");
  });

  it("of an error page is delivered with its status", async () => {
    await using site = await startSite({
      "/": answer(503, "busy", { "retry-after": 7, "set-cookie": "a=1\r\nset-cookie: b=2\r\nx-two: 1\r\nx-two: 2" }),
    });
    await using client = testClient();
    const sink = new BufferSink();
    const result = await client.fetch({ url: site.url("/") }, sink);
    assert.deepEqual(
      [result.status, sink.text(), result.headers["retry-after"], result.headers["x-two"]],
      [503, "busy", "7", "1, 2"],
    );
    assert.deepEqual(result.setCookie, ["a=1", "b=2"]);
  });

  it("that nobody wants is left unread, and the answer still counts", async () => {
    await using site = await startSite({
      "/": flood(head(404), Buffer.alloc(64 * 1024)),
      "/cut": rawThenClose(`${head(404, { "content-length": 9 })}abc`),
    });
    await using client = testClient({ limits: LIMITS });
    assert.equal((await client.fetch({ url: site.url("/") }, discardBody)).status, 404);
    assert.equal((await client.fetch({ url: site.url("/cut") }, discardBody)).status, 404);
  });

  it("makes the site wait while the reader is busy, and that is not held against the site", async () => {
    await using site = await startSite({ "/": answer(200, NOISE) });
    await using client = testClient({ limits: { ...LIMITS, idleMs: 60, totalMs: 5_000 } });
    let open = 0;
    let most = 0;
    let bytes = 0;
    const result = await client.fetch(
      { url: site.url("/") },
      {
        start: () => {},
        write: (chunk) => {
          bytes += chunk.length;
          most = Math.max(most, (open += 1));
          return new Promise((resolve) =>
            setTimeout(() => resolve(void (open -= 1)), bytes === chunk.length ? 200 : 1),
          );
        },
      },
    );
    assert.deepEqual([most, bytes, result.bytes], [1, NOISE.length, NOISE.length]);
  });

  it("that breaks off while the reader is busy fails that fetch, not the process", async () => {
    for (const close of ["close", "keep-alive"]) {
      await using site = await startSite({
        "/": reset(`${head(200, { connection: close, ...(close === "close" ? {} : { "content-length": 99 }) })}abc`),
      });
      await using client = testClient();
      const gone = new Promise<void>((resolve) => site.onClose(resolve));
      const fetched = client.fetch(
        { url: site.url("/") },
        { start: () => {}, write: () => gone.then(() => new Promise((resolve) => setTimeout(resolve, 20))) },
      );
      assert.equal(await reasonOf(fetched), "network/connection_reset");
    }
  });

  it("that grows at an honest pace may take longer than the limit, a drip may not", async () => {
    const limits = { ...LIMITS, totalMs: 150, minBytesPerSecond: 20_000 };
    let sent = 0;
    await using site = await startSite({
      "/honest": (socket) => {
        socket.write(head(200, { "content-length": 20_000 }));
        const timer = setInterval(() => {
          socket.write("x".repeat(1_000));
          if ((sent += 1_000) === 20_000) clearInterval(timer);
        }, 20);
      },
      "/drip": drip(head(200, { "content-length": 20_000 }), "x", 10),
    });
    await using client = testClient({ limits });
    const result = await client.fetch({ url: site.url("/honest") }, discardNothing);
    assert.ok(result.timing.durationMs > 150);
    assert.equal(await reasonOf(client.fetch({ url: site.url("/drip") }, discardNothing)), "timeout/timeout_total");
  });

  it("stops when the caller has had enough, with the caller's own reason", async () => {
    await using site = await startSite({ "/": silence, "/flood": flood(head(200), Buffer.alloc(1024)) });
    await using client = testClient();
    const reason = new Error("the run was cancelled");
    const controller = new AbortController();
    const waiting = client.fetch({ url: site.url("/"), signal: controller.signal }, discardNothing);
    const flooded = client.fetch(
      { url: site.url("/flood"), signal: controller.signal },
      { start: () => controller.abort(reason), write: () => {} },
    );
    await assert.rejects(waiting, reason);
    await assert.rejects(flooded, reason);
    await assert.rejects(client.fetch({ url: site.url("/"), signal: controller.signal }, discardNothing), reason);
    const full = new Error("disk full");
    await assert.rejects(
      client.fetch({ url: site.url("/flood") }, { start: () => {}, write: () => Promise.reject(full) }),
      full,
    );
    await assert.rejects(
      client.fetch(
        { url: site.url("/flood") },
        {
          start: () => {
            throw full;
          },
          write: () => {},
        },
      ),
      full,
    );
  });

  it("ends with the client", async () => {
    await using site = await startSite({ "/": silence });
    const client = testClient();
    const fetched = reasonOf(client.fetch({ url: site.url("/") }, discardNothing));
    await site.hit("/");
    await client.close();
    assert.equal(await fetched, "cancelled/run_cancelled");
    assert.equal(await reasonOf(client.fetch({ url: site.url("/") }, discardNothing)), "cancelled/run_cancelled");
  });
});

describe("a process that stood still", () => {
  it("does not blame the site for its own silence", async () => {
    let next = () => {};
    await using site = await startSite({
      "/": (socket) => {
        socket.write(`${head(200, { "content-length": 2 })}a`);
        next = () => socket.write("b");
      },
    });
    await using client = testClient({ limits: { ...LIMITS, totalMs: 5_000 } });
    const result = await client.fetch(
      { url: site.url("/") },
      {
        start: () => {},
        write: () => {
          // The loop is blocked for longer than a body may be silent; the rest is sent as soon as it runs again.
          setImmediate(() => {
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
            setTimeout(next, 20);
          });
        },
      },
    );
    assert.equal(result.bytes, 2);
  });
});

describe("a kept-alive connection", () => {
  it("serves one request after the other", async () => {
    await using site = await startSite({ "/": answer(200, "ok"), "/r": redirect("/") });
    await using client = testClient();
    for (let count = 0; count < 5; count += 1) await client.fetch({ url: site.url("/r") }, discardNothing);
    assert.equal(site.connections, 1);
  });

  it("that the site dropped meanwhile costs a page nothing, and a POST is not sent twice", async () => {
    await using site = await startSite({ "/": answer(200, "ok") });
    await using client = testClient();
    // Answers the first request of a connection, drops the connection at the second: a server that forgot its client.
    const forgetful = () => {
      const seen = new WeakSet<object>();
      site.on("/", (socket, request) => {
        if (seen.has(socket)) socket.resetAndDestroy();
        else answer(200, "ok")(socket, request);
        seen.add(socket);
      });
    };
    forgetful();
    assert.equal((await client.fetch({ url: site.url("/") }, discardNothing)).status, 200);
    assert.equal((await client.fetch({ url: site.url("/") }, discardNothing)).status, 200);
    assert.equal(site.log.length, 3, "the second page took two requests");
    assert.equal((await client.fetch({ url: site.url("/") }, discardNothing)).status, 200);
    assert.equal(
      await reasonOf(client.fetch({ url: site.url("/"), method: "POST", body: "x" }, discardNothing)),
      "network/connection_reset",
    );
  });
});

const discardNothing = { start: () => {}, write: () => {} };
