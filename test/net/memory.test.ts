import assert from "node:assert/strict";
import { it } from "node:test";
import { Readable, type Transform } from "node:stream";
import { createBrotliCompress, createDeflate, createGzip, createZstdCompress, constants } from "node:zlib";
import { answer, flood, head, startSite } from "../support/hostile-site.ts";
import { reasonOf, testClient } from "../support/net.ts";

const GIB = 1024 * 1024 * 1024;
const MIB = 1024 * 1024;

/** A gibibyte of zeros, compressed without ever being whole in memory. */
async function bomb(encoder: Transform): Promise<Buffer> {
  const zeros = Buffer.alloc(MIB);
  const source = Readable.from(
    (function* () {
      for (let size = 0; size < GIB; size += MIB) yield zeros;
    })(),
  );
  const parts: Buffer[] = [];
  for await (const part of source.pipe(encoder)) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

it("bombs of 1 GiB and endless bodies, all at once, cost less than 100 MiB of memory", async () => {
  const encoders = {
    gzip: createGzip({ level: 1 }),
    deflate: createDeflate({ level: 1 }),
    br: createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    zstd: createZstdCompress(),
  };
  const bombs = Object.fromEntries(
    await Promise.all(
      Object.entries(encoders).map(async ([coding, encoder]) => [coding, await bomb(encoder)] as const),
    ),
  );
  await using site = await startSite({ "/endless": flood(head(200), Buffer.alloc(64 * 1024)) });
  for (const [coding, body] of Object.entries(bombs))
    site.on(`/${coding}`, answer(200, body, { "content-encoding": coding }));
  await using client = testClient({ limits: { maxBodyBytes: 128 * MIB } });
  const sink = { start: () => {}, write: () => {} };
  const get = (path: string) => reasonOf(client.fetch({ url: site.url(path) }, sink));
  const all = () =>
    Promise.all([
      get("/endless"),
      get("/endless"),
      ...Object.keys(bombs).flatMap((coding) => [get(`/${coding}`), get(`/${coding}`)]),
    ]);

  // A busy machine collects garbage late, and then it stays mapped; who keeps bodies takes the memory anew every time.
  const grown: number[] = [];
  do {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 10);
    const reasons = await all().finally(() => clearInterval(sampling));
    assert.deepEqual(new Set(reasons), new Set(["bad_response/body_too_large", "bad_response/decompression_limit"]));
    grown.push(Math.round((peak - before) / MIB));
  } while (grown.at(-1)! >= 100 && grown.length < 3);
  assert.ok(grown.at(-1)! < 100, `memory grew by ${grown.join(", ")} MiB`);
});
