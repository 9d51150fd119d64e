/** `orb demo` as people run it: to its end, offline, with and without a browser, and again after a kill. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { BOOKS } from "../../src/demo/books.ts";
import { GALLERY_TRUTH } from "../../src/demo/gallery.ts";
import type { DemoSummary } from "../../src/cli/demo/demo-words.ts";
import { Orb, until } from "../chaos/orb.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const CHROMIUM = process.env["ORB_TEST_CHROMIUM"] ?? "";
const NO_BROWSER = { APP_BROWSER_PATH: "/nowhere/chromium" };

/** What every demo shows, whatever the machine has. */
function assertWhole(summary: DemoSummary): void {
  const { crawl, images } = summary;
  assert.equal(summary.ok, true);
  assert.equal(crawl.books, BOOKS.length);
  assert.ok(crawl.rate_limited.waits > 0, "somebody was asked to wait");
  assert.equal(crawl.rate_limited.got, crawl.rate_limited.pages, "and who waited got in");
  assert.deepEqual(crawl.failures.map(({ reason }) => reason).toSorted(), [
    "http_not_found",
    "http_server_error",
    "robots_disallowed",
    "too_many_redirects",
    "truncated_body",
  ]);
  assert.equal(images.found, GALLERY_TRUTH.pictures);
  assert.equal(images.kept, GALLERY_TRUTH.kept);
  assert.deepEqual(images.refused, GALLERY_TRUTH.refused);
  assert.deepEqual(
    [images.exact_copies, images.smaller_copies],
    [GALLERY_TRUTH.exactCopies, GALLERY_TRUTH.smallerCopies],
  );
}

describe("orb demo", () => {
  test(
    "without a browser says what was left out, and starts clean after a kill in the middle",
    { timeout: PATIENCE_MS },
    async () => {
      await using orb = new Orb(NO_BROWSER);
      const folder = join(orb.dataDir, "demo");
      const killed = orb.start(["demo"]);
      await killed.said("Crawling the shop");
      const second = await orb.run(["demo", "--exit"]);
      assert.equal(second.code, 1);
      assert.match(second.stderr, new RegExp(`another orb demo is running here: process ${killed.pid}`));
      await killed.killed();
      assert.ok(existsSync(folder), "a kill leaves the folder");

      const { code, stdout, stderr } = await orb.start(["demo", "--exit"]).end(PATIENCE_MS);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /browser +none: pages that need one are skipped; install one with orb doctor --fix/);
      assert.match(stdout, /skipped, 2 pages: there is no browser\. Install one with: orb doctor --fix/);
      assert.match(stdout, new RegExp(`${BOOKS.length} books among them`));
      assert.equal(existsSync(folder), false, "nothing is left");
      assert.equal(existsSync(orb.database), false, "the real database was not touched");
    },
  );

  test(
    "with a browser renders the scripted corner; Ctrl-C ends it, and --keep leaves what was made",
    { skip: CHROMIUM === "" ? "there is no Chromium on this machine" : false, timeout: PATIENCE_MS },
    async () => {
      await using orb = new Orb({ APP_BROWSER_PATH: CHROMIUM });
      const running = orb.start(["demo", "--json", "--keep"]);
      await until(async () => running.stdout.endsWith("\n}\n"), "the summary is there", PATIENCE_MS);
      const summary = JSON.parse(running.stdout) as DemoSummary;
      assertWhole(summary);
      assert.deepEqual(summary.scripted, { rendered: 2, skipped: 0 });
      const overview = await fetch(summary.dashboard, { headers: { accept: "text/html" } });
      assert.match(overview.headers.get("content-type") ?? "", /html/);
      running.kill("SIGINT");
      assert.equal((await running.end()).code, 0);
      assert.ok(readdirSync(summary.folder).includes("orb.db"));
    },
  );

  test("leaves a folder alone that is no demo's", async () => {
    await using orb = new Orb(NO_BROWSER);
    const folder = join(orb.dataDir, "demo");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "thesis.txt"), "mine");
    const { code, stderr } = await orb.run(["demo", "--exit"]);
    assert.equal(code, 1);
    assert.match(stderr, /contains files that do not belong to the demo/);
    assert.deepEqual(readdirSync(folder), ["thesis.txt"]);
  });
});
