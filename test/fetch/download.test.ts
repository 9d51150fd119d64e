import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { download } from "../../src/fetch/http/download.ts";
import { answer, type Behaviour, head, redirect, startSite } from "../support/hostile-site.ts";
import { PLENTY, reasonOf, testClient } from "../support/net.ts";
import { tempDir } from "../support/temp-dir.ts";

const FILE = Buffer.from(Array.from({ length: 500_000 }, (_, index) => (index * 7 + (index >> 9)) & 0xff));
const CUT = 200_000;
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

interface Served {
  body: Buffer;
  headers: Record<string, string>;
  /** Break off after this many bytes of the body. */
  cutAt?: number;
  ignoreRange?: boolean;
  /** Answer ranges from a place that was not asked for. */
  wrongRange?: boolean;
}

/** A file server with ranges, as servers have it, and a switch for breaking off. */
function fileServer(file: Served): Behaviour {
  return (socket, request) => {
    const range = /^bytes=(\d+)-$/.exec(request.headers["range"] ?? "");
    const condition = request.headers["if-range"];
    const same =
      condition === undefined || condition === file.headers["etag"] || condition === file.headers["last-modified"];
    const asked = range === null || file.ignoreRange === true || !same ? 0 : Number(range[1]);
    if (asked >= file.body.length) return void socket.write(head(416, { "content-length": 0 }));
    const from = asked > 0 && file.wrongRange === true ? asked - 10 : asked;
    const rest = file.body.subarray(from);
    const status = asked > 0 ? 206 : 200;
    const server = asked > 0 ? { "content-range": `bytes ${from}-${file.body.length - 1}/${file.body.length}` } : {};
    socket.write(head(status, { "content-length": rest.length, ...server, ...file.headers }));
    if (file.cutAt === undefined) return void socket.write(rest);
    // The end of the connection comes after the bytes: a short body.
    return void socket.end(rest.subarray(0, file.cutAt));
  };
}

async function bench() {
  const dir = tempDir();
  const site = await startSite({});
  const client = testClient({ limits: PLENTY });
  const artifacts = createArtifactStore({ dir: dir.path, clock: systemClock });
  const get = (path: string, more: Partial<Parameters<typeof download>[1]> = {}) =>
    download({ client, artifacts }, { url: site.url(path), partKey: "task-1", ...more });
  return {
    site,
    artifacts,
    get,
    leftovers: () => readdirSync(`${dir.path}/tmp`),
    written: () => Math.max(0, ...readdirSync(`${dir.path}/tmp`).map((name) => sizeOf(`${dir.path}/tmp/${name}`))),
    async [Symbol.asyncDispose]() {
      await client.close();
      await site[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

describe("a download", () => {
  it("ends as a file named by its content, with what led to it", async () => {
    await using t = await bench();
    t.site.on("/old", redirect("/page", 301));
    t.site.on("/page", answer(200, "<p>hello", { "content-type": "text/html" }));
    const got = await t.get("/old");
    assert.equal(got.hash, sha256(Buffer.from("<p>hello")));
    assert.deepEqual(
      [got.status, got.size, got.contentType, got.finalUrl, got.redirects.length],
      [200, 8, "text/html", t.site.url("/page"), 1],
    );
    assert.equal(await t.artifacts.verify(got.hash!), true);
    assert.equal(t.site.log[0]!.headers["accept-encoding"], "identity");
    assert.equal(t.site.log[0]!.headers["range"], undefined);
    assert.deepEqual(t.leftovers(), []);
  });

  it("is decoded when the caller asked for compression or the site insists", async () => {
    await using t = await bench();
    t.site.on("/", answer(200, gzipSync(FILE), { "content-encoding": "gzip" }));
    const got = await t.get("/", { headers: { "accept-encoding": "gzip" } });
    assert.equal(got.hash, sha256(FILE));
    assert.equal(t.site.log[0]!.headers["accept-encoding"], "gzip");
  });

  it("that is no success stores nothing and says the status", async () => {
    await using t = await bench();
    for (const status of [204, 304, 403, 404, 429, 500, 503]) {
      t.site.on("/", answer(status, status === 204 || status === 304 ? "" : "a page about the error"));
      const got = await t.get("/");
      assert.deepEqual(
        [got.status, got.hash, got.size, got.notModified],
        [status, null, 0, status === 304 ? true : undefined],
      );
    }
    t.site.on("/", redirect("http://other.test/"));
    assert.equal((await t.get("/", { followRedirects: () => false })).notFollowed, "http://other.test/");
    assert.deepEqual(t.leftovers(), []);
  });

  it("stops at the limit and leaves nothing", async () => {
    await using t = await bench();
    t.site.on("/", fileServer({ body: FILE, headers: { etag: '"1"' } }));
    assert.equal(await reasonOf(t.get("/", { maxBodyBytes: 400_000 })), "bad_response/body_too_large");
    t.site.on("/", answer(206, "abc", { "content-range": "bytes 0-2/3" }));
    assert.equal(await reasonOf(t.get("/")), "bad_response/malformed_response");
    assert.deepEqual(t.leftovers(), []);
  });

  it("of 128 MB passes through without being held in memory [slow]", async () => {
    await using t = await bench();
    const piece = Buffer.alloc(64 * 1024, "x");
    const pieces = 2_048;
    t.site.on("/", (socket) => {
      socket.write(head(200, { "content-length": piece.length * pieces, etag: '"big"' }));
      let left = pieces;
      const push = () => {
        while (left > 0) {
          left -= 1;
          if (!socket.write(piece)) return;
        }
      };
      socket.on("drain", push);
      push();
    });
    // A busy machine collects garbage late, and then it stays mapped; who holds it takes the memory anew every time.
    const grown: number[] = [];
    do {
      globalThis.gc?.();
      const before = process.memoryUsage().rss;
      let peak = before;
      const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
      const got = await t.get("/", { maxBodyBytes: 200_000_000 }).finally(() => clearInterval(sampling));
      assert.equal(got.size, piece.length * pieces);
      grown.push(Math.round((peak - before) / 1024 / 1024));
    } while (grown.at(-1)! >= 100 && grown.length < 3);
    assert.ok(grown.at(-1)! < 100, `memory grew by ${grown.join(", ")} MiB`);
  });
});

describe("a download that broke off", () => {
  for (const [name, headers] of Object.entries({
    ETag: { etag: '"v1"' },
    "Last-Modified": { "last-modified": "Sun, 15 Nov 2026 02:45:21 GMT" },
  })) {
    it(`is completed by the next attempt with only the rest sent, by ${name}`, async () => {
      await using t = await bench();
      const file: Served = { body: FILE, headers, cutAt: CUT };
      t.site.on("/", fileServer(file));
      assert.equal(await reasonOf(t.get("/")), "bad_response/truncated_body");
      assert.equal(t.artifacts.resumable("task-1")?.offset, CUT);
      delete file.cutAt;
      const sent = t.site.sent;
      const got = await t.get("/");
      assert.deepEqual([got.status, got.resumedFrom, got.size, got.hash], [206, CUT, FILE.length, sha256(FILE)]);
      assert.equal(t.site.log[1]!.headers["range"], `bytes=${CUT}-`);
      assert.equal(t.site.log[1]!.headers["if-range"], Object.values(headers)[0]);
      assert.ok(t.site.sent - sent < FILE.length - CUT + 1_000, "more than the rest was sent");
      assert.equal(await t.artifacts.verify(got.hash!), true);
      assert.deepEqual(t.leftovers(), []);
    });
  }

  it("several times is completed all the same", async () => {
    await using t = await bench();
    const file: Served = { body: FILE, headers: { etag: '"v1"' }, cutAt: 100_000 };
    t.site.on("/", fileServer(file));
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      assert.equal(await reasonOf(t.get("/")), "bad_response/truncated_body");
      assert.equal(t.artifacts.resumable("task-1")?.offset, attempt * 100_000);
    }
    delete file.cutAt;
    assert.equal((await t.get("/")).hash, sha256(FILE));
  });

  it("starts over when the file has changed meanwhile", async () => {
    await using t = await bench();
    const file: Served = { body: FILE, headers: { etag: '"v1"' }, cutAt: CUT };
    t.site.on("/", fileServer(file));
    await reasonOf(t.get("/"));
    const changed = Buffer.from(FILE.toReversed());
    t.site.on("/", fileServer({ body: changed, headers: { etag: '"v2"' } }));
    const got = await t.get("/");
    assert.deepEqual([got.status, got.resumedFrom, got.hash], [200, undefined, sha256(changed)]);
    assert.deepEqual(t.leftovers(), []);
  });

  it("starts over when the server cannot or will not send the rest", async () => {
    const later: Partial<Served>[] = [{ ignoreRange: true }, { wrongRange: true }, { body: FILE.subarray(0, 100_000) }];
    for (const change of later) {
      await using t = await bench();
      const file: Served = { body: FILE, headers: { etag: '"v1"' }, cutAt: CUT };
      t.site.on("/", fileServer(file));
      await reasonOf(t.get("/"));
      delete file.cutAt;
      Object.assign(file, change);
      const got = await t.get("/");
      assert.deepEqual([got.status, got.resumedFrom, got.hash], [200, undefined, sha256(file.body)]);
      assert.deepEqual(t.leftovers(), []);
    }
  });

  it("is not kept when there is no telling whether the rest would fit", async () => {
    for (const headers of [
      {},
      { etag: 'W/"weak"' },
      { etag: '"v1"', "accept-ranges": "none" },
      { etag: '"v1"', "content-encoding": "gzip" },
    ] as Record<string, string>[]) {
      await using t = await bench();
      const body = headers["content-encoding"] === undefined ? FILE : gzipSync(FILE, { level: 0 });
      t.site.on("/", fileServer({ body, headers, cutAt: CUT }));
      assert.equal(await reasonOf(t.get("/")), "bad_response/truncated_body");
      assert.deepEqual(t.leftovers(), []);
    }
    await using t = await bench();
    t.site.on("/", fileServer({ body: FILE, headers: { etag: '"v1"' }, cutAt: 1_000 }));
    await reasonOf(t.get("/"));
    assert.deepEqual(t.leftovers(), []);
  });

  it("because the caller stopped it goes on later, and not for another URL", async () => {
    await using t = await bench();
    const reason = new Error("stopping");
    const controller = new AbortController();
    t.site.on("/", (socket) => {
      socket.write(head(200, { "content-length": FILE.length, etag: '"v1"' }));
      // Stop once the reader has certainly taken what was written: it is on disk.
      socket.write(FILE.subarray(0, CUT), () => {
        const look = setInterval(() => {
          // By the file's size: asking for the part would throw away one that has been made and is still empty.
          if (t.written() < 64 * 1024) return;
          clearInterval(look);
          controller.abort(reason);
        }, 5).unref();
      });
    });
    await assert.rejects(t.get("/", { signal: controller.signal }), reason);
    assert.ok(t.artifacts.resumable("task-1")!.offset >= 64 * 1024);
    t.site.on("/other", fileServer({ body: FILE, headers: { etag: '"v1"' } }));
    assert.equal((await t.get("/other")).resumedFrom, undefined);
    assert.deepEqual(t.leftovers(), []);
  });
});
