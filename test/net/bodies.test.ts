import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { BufferSink, discardBody } from "../../src/net/buffer-sink.ts";
import {
  answer,
  drip,
  flood,
  head,
  rawThenClose,
  redirect,
  reset,
  silence,
  startSite,
} from "../support/hostile-site.ts";
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
    await using client = testClient({ limits: { ...LIMITS, ...PLENTY } });
    assert.equal((await client.fetch({ url: site.url("/") }, discardBody)).status, 404);
    assert.equal((await client.fetch({ url: site.url("/cut") }, discardBody)).status, 404);
  });

  it("makes the site wait while the reader is busy, and that is not held against the site", async () => {
    await using site = await startSite({ "/": answer(200, NOISE) });
    await using client = testClient({ limits: { ...LIMITS, ...PLENTY, idleMs: 60 } });
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

  it("that grows at an honest pace may take longer than the limit, a drip may not [slow]", async () => {
    // Ten times as fast as it has to be: a machine that stands still for a moment makes nobody late.
    const limits = { ...LIMITS, ...PLENTY, totalMs: 1_000, minBytesPerSecond: 1_000 };
    let sent = 0;
    await using site = await startSite({
      "/honest": (socket) => {
        socket.write(head(200, { "content-length": 20_000 }));
        const timer = setInterval(() => {
          socket.write("x".repeat(1_000));
          if ((sent += 1_000) === 20_000) clearInterval(timer);
        }, 100);
      },
      "/drip": drip(head(200, { "content-length": 20_000 }), "x", 10),
    });
    await using client = testClient({ limits });
    const result = await client.fetch({ url: site.url("/honest") }, discardNothing);
    assert.ok(result.timing.durationMs > 1_000);
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
    await using client = testClient({ limits: { ...LIMITS, ...PLENTY, idleMs: 200 } });
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
