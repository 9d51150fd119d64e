import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { wholeCrawlOptions } from "../../src/domain/crawl/crawl-options.ts";
import type { PageAnswer } from "../../src/fetch/page.ts";
import { PageCopies } from "../../src/lanes/handlers/page-copies.ts";
import type { PageCopyRecord } from "../../src/store/ports/crawl-port.ts";
import type { Store } from "../../src/store/ports/port.ts";

const URL = "https://site.example/a";

/** Of a crawl that gives only what has changed: its copies need no records from the store. */
const copies = new PageCopies(
  {} as Store,
  "job",
  wholeCrawlOptions({
    ...{ urls: [URL], export_format: "json", strategy: "auto", fields: null, items: null, schema: null },
    ...{ only_changed: true, proxy: null, sealed_proxy: null },
  }),
);

const open = (content: unknown) =>
  copies.open(
    {
      url: URL,
      records: 0,
      payload: deflateRawSync(JSON.stringify({ links: [], content })),
    } as unknown as PageCopyRecord,
    { finalUrl: URL } as PageAnswer,
  );

test("a copy that an earlier version has kept still recognises pages with the same content", async () => {
  const { links, content } = (await open({ hash: "h", isTelling: true }))!;
  assert.deepEqual({ links, content }, { links: [], content: { hash: "h", isSubstantial: true } });
  assert.deepEqual((await open({ hash: "h", isTelling: false }))!.content, { hash: "h", isSubstantial: false });
  assert.deepEqual((await open({ hash: "h", isSubstantial: true }))!.content, { hash: "h", isSubstantial: true });
  assert.equal((await open(null))!.content, null);
});
