import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pagesForMemory } from "../../../src/fetch/browser/pages-for-memory.ts";
import { browserGate, type Route, startBrowser, webSite } from "../../support/browser-kit.ts";
import { FULL } from "../../support/gate.ts";
import { failureOf } from "../../support/net.ts";
import { eventually, isAlive, profileFolders, treeOf } from "./processes.ts";

const PAGE = "<p>This sentence is long enough to be taken for the content of a page.</p>";
const never: Route = () => {};
const MiB = 1024 ** 2;

describe("the pool of browsers", browserGate, () => {
  it("opens as many pages at once as it may, the others in the order they came", async () => {
    await using site = await webSite();
    const answers = new Map<string, () => void>();
    let open = 0;
    let most = 0;
    site.on("/", (request, response) => {
      open += 1;
      most = Math.max(most, open);
      answers.set(request.url!, () => {
        open -= 1;
        response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
      });
    });
    await using browser = startBrowser({ maxPages: 2 });
    const order: number[] = [];
    const fetches = Array.from({ length: 5 }, async (_, index) => {
      await browser.fetch(site.url(`/?${index}`));
      order.push(index);
    });
    await Promise.all([site.hit("/?0"), site.hit("/?1")]);
    for (let index = 0; index < 5; index += 1) {
      await site.hit(`/?${index}`);
      answers.get(`/?${index}`)!();
      await fetches[index];
    }
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
    assert.equal(most, 2);
  });

  it("takes a new browser after so many pages, while the old one finishes what it has", async () => {
    await using site = await webSite({ "/": PAGE });
    const held = Promise.withResolvers<void>();
    site.on(
      "/held",
      (_request, response) => void held.promise.then(() => response.setHeader("content-type", "text/html").end(PAGE)),
    );
    await using browser = startBrowser({ pagesPerBrowser: 2 });
    const slow = browser.fetch(site.url("/held"));
    await site.hit("/held");
    const first = browser.pool.browserPid!;
    await browser.fetch(site.url("/"));
    await browser.fetch(site.url("/"));
    assert.notEqual(browser.pool.browserPid, first);
    assert.ok(isAlive(first), "it has a page yet");
    held.resolve();
    assert.equal((await slow).status, 200);
    await eventually("the old browser is gone", () => !isAlive(first));
  });

  it("replaces a browser that has grown too large", async () => {
    await using site = await webSite({ "/": PAGE });
    await using browser = startBrowser({ maxBrowserBytes: 1 });
    const first = await browser.pool.withPage({}, async () => browser.pool.browserPid!);
    await eventually("the first is gone", () => !isAlive(first));
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
  });

  it("ends a browser that has nothing to do, and starts one when there is", async () => {
    await using site = await webSite({ "/": PAGE });
    await using browser = startBrowser({ idleMs: 50 });
    await browser.fetch(site.url("/"));
    await eventually("it has ended", () => browser.pool.browserPid === null);
    assert.equal((await browser.fetch(site.url("/"))).status, 200);
  });

  it("leaves no process and no folder behind when it is closed, also with pages open", async () => {
    const folders = new Set(profileFolders());
    await using site = await webSite({ "/": PAGE, "/hold": never });
    const browser = startBrowser({ maxPages: 1 });
    const open = failureOf(browser.fetch(site.url("/hold")));
    await site.hit("/hold");
    const waiting = failureOf(browser.fetch(site.url("/")));
    const tree = treeOf(browser.pool.browserPid!).map(({ pid }) => pid);
    await Promise.all([browser.pool.close(), browser.pool.close()]);
    assert.equal((await open).reason, "run_cancelled");
    assert.equal((await waiting).reason, "run_cancelled");
    await eventually("all processes are gone", () => tree.every((pid) => !isAlive(pid)));
    assert.deepEqual(
      profileFolders().filter((name) => !folders.has(name)),
      [],
    );
    assert.equal((await failureOf(browser.fetch(site.url("/")))).reason, "run_cancelled");
  });

  it("does not grow over many pages", async () => {
    // A page that stays costs some 50 MiB.
    const count = FULL ? 300 : 12;
    await using site = await webSite({
      "/": `${PAGE}<script>window.kept = new Array(200000).fill("x" + Math.random())</script>`,
    });
    await using browser = startBrowser();
    const resident = () => treeOf(browser.pool.browserPid!).reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    const visit = (pages: number) =>
      Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let index = 0; index < pages / 4; index += 1) await browser.fetch(site.url("/"));
        }),
      );
    await visit(FULL ? 12 : 4);
    const pid = browser.pool.browserPid;
    const early = resident();
    await visit(count);
    assert.equal(browser.pool.browserPid, pid);
    const late = resident();
    assert.ok(late < early + 250 * MiB, `${Math.round(early / MiB)} MiB became ${Math.round(late / MiB)} MiB`);
  });
});

describe("the number of pages", () => {
  it("follows the memory that is free, within reason", () => {
    assert.deepEqual(
      [0, 200, 700, 1_600, 64_000].map((free) => pagesForMemory(free * MiB)),
      [1, 1, 2, 5, 8],
    );
  });
});
