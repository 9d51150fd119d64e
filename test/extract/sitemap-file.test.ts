import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../src/base/clock.ts";
import { FetchFailure } from "../../src/domain/run/failure.ts";
import { createPageReader } from "../../src/extract/pool.ts";
import { looksLikeList, readSitemapFile, type SitemapFile } from "../../src/extract/sitemap-file.ts";
import { SITEMAP_LIMITS } from "../../src/extract/sitemap.ts";

const XML = `<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>https://a.example/caf\u00e9</loc></url></urlset>`;
const PAGE = "https://a.example/caf%C3%A9";

const reasonOf = (error: unknown) => (error instanceof FetchFailure ? error.failure.reason : String(error));

const file = (body: Uint8Array | string, more: Partial<SitemapFile> = {}): SitemapFile => ({
  body: typeof body === "string" ? Buffer.from(body, "latin1") : body,
  contentType: null,
  url: "https://a.example/sitemap.xml",
  depth: 0,
  ...more,
});

describe("a sitemap as it was fetched", () => {
  it("is read packed or not, once or twice, whatever it is called", () => {
    const plain = Buffer.from(XML, "latin1");
    for (const body of [plain, gzipSync(plain), gzipSync(gzipSync(plain))])
      for (const contentType of ["text/xml", "application/gzip", "application/octet-stream", null])
        assert.deepEqual(readSitemapFile(file(body, { contentType })).urls, [PAGE]);
  });

  it("is refused when it is damaged, or larger than any sitemap when it is unpacked", () => {
    const packed = gzipSync(XML);
    const wrong: [Buffer, string][] = [
      [packed.subarray(0, 30), "truncated_body"],
      [Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 255)]), "decompression_failed"],
      [gzipSync(Buffer.alloc(SITEMAP_LIMITS.bytes + 1), { level: 1 }), "decompression_limit"],
      [gzipSync(gzipSync(Buffer.alloc(SITEMAP_LIMITS.bytes + 1), { level: 1 })), "decompression_limit"],
    ];
    for (const [body, reason] of wrong)
      assert.throws(
        () => readSitemapFile(file(body)),
        (error) => reasonOf(error) === reason,
      );
    const three = readSitemapFile(file(gzipSync(gzipSync(gzipSync(XML)))));
    assert.deepEqual([three.kind, three.urls], ["none", []], "what is still packed is no sitemap");
  });

  it("is read in a thread, in line with the pages, and its failures keep their reason", async () => {
    const reader = createPageReader({ threads: 1, timeoutMs: 60_000, clock: systemClock });
    try {
      const [sitemap, page, failure] = await Promise.all([
        reader.readSitemap(file(gzipSync(Buffer.from(XML, "latin1"))), { owned: true }),
        reader.read({ body: "<title>Page</title>", contentType: "text/html", url: null }, {}),
        reader.readSitemap(file(gzipSync(XML).subarray(0, 30))).catch(reasonOf),
      ]);
      assert.deepEqual(sitemap, { kind: "urlset", urls: [PAGE], sitemaps: [], truncated: false, problems: [] });
      assert.equal(page.extraction.title, "Page");
      assert.equal(failure, "truncated_body");
      const index = `<sitemapindex><sitemap><loc>/b.xml</loc></sitemap></sitemapindex>`;
      assert.deepEqual((await reader.readSitemap(file(index))).sitemaps, ["https://a.example/b.xml"]);
      assert.deepEqual((await reader.readSitemap(file(index, { depth: 3 }))).sitemaps, []);
    } finally {
      await reader.close();
    }
  });
});

it("what is a list is told by its first element, however much stands before it", () => {
  const looks = (text: string, type = "text/html") => looksLikeList(Buffer.from(text), type);
  assert.ok(looks('\uFEFF<?xml version="1.0"?>\n<!-- a --><!DOCTYPE rss><?xsl b?>\n<rss version="2.0">'));
  assert.ok(looks("<sm:urlset xmlns:sm='x'>"));
  assert.ok(looks("https://a.example/\n", "text/plain"));
  assert.ok(looks('{"items": [], "version": "https://jsonfeed.org/version/1"}', "application/json"));
  assert.ok(!looks("<!doctype html><html><body>rss</body></html>"));
  assert.ok(!looks('{"items": []}', "application/json"));
  assert.ok(!looks("https://a.example/ is a page", "text/plain"));
  // One that looked for all ways to divide these would not come to an end.
  for (const part of ["<!---->", "<!-- -->", "<??>", "<!x>", " "])
    assert.ok(!looks(`${part.repeat(1000)}<html>`), part);
  assert.ok(!looks("<!--".repeat(1000)));
});
