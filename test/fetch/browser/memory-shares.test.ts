import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryShares } from "../../../src/fetch/browser/memory-shares.ts";
import { browserGate, type Route, startBrowser, webSite } from "../../support/browser-kit.ts";
import { FakeClock, settled } from "../../support/fake-clock.ts";

const MiB = 1024 ** 2;

/** A browser whose pages are as large as somebody says. */
function shares(pageMiB: number | null) {
  const clock = new FakeClock();
  const size = { pageMiB };
  const all = new MemoryShares(clock, async () => (size.pageMiB === null ? null : size.pageMiB * MiB));
  const log: string[] = [];
  const open = (name: string, maxMiB: number | null, signal = new AbortController().signal) => {
    const [site] = name.split("/") as [string];
    const maxBytes = maxMiB === null ? null : maxMiB * MiB;
    const onWait = (waits: boolean) => void log.push(`${name} ${waits ? "waits" : "goes on"}`);
    const taken = all.take({ site, maxBytes, onWait }, signal);
    taken.then(
      () => log.push(`${name} opens`),
      () => log.push(`${name} leaves`),
    );
  };
  const said = async () => {
    await settled();
    await clock.advance(1000);
    return log.splice(0);
  };
  return { all, open, said, size };
}

describe("the browser's memory", () => {
  it("is shared out by the size of pages as they are: one is always allowed, then as many as fit", async () => {
    const { all, open, said } = shares(100);
    for (let n = 1; n <= 4; n += 1) open(`a/${n}`, 250);
    assert.deepEqual(await said(), ["a/1 opens", "a/3 waits", "a/4 waits", "a/2 opens"]);
    all.release("a");
    assert.deepEqual(await said(), ["a/3 goes on", "a/3 opens"]);
    open("b/1", 10);
    open("b/2", 10);
    assert.deepEqual(await said(), ["b/1 opens", "b/2 waits"], "however small the share");
  });

  it("is not judged before a page is open, and judged anew when pages shrink", async () => {
    const { open, said, size } = shares(null);
    open("a/1", 250);
    open("a/2", 250);
    assert.deepEqual(await said(), ["a/1 opens", "a/2 waits"]);
    size.pageMiB = 200;
    assert.deepEqual(await said(), []);
    size.pageMiB = 125;
    assert.deepEqual(await said(), ["a/2 goes on", "a/2 opens"]);
  });

  it("is no matter any more for those in line when the limit is lifted, nor for those who leave", async () => {
    const { open, said } = shares(100);
    const leaves = new AbortController();
    open("a/1", 100);
    open("a/2", 100, leaves.signal);
    open("a/3", 100);
    assert.deepEqual(await said(), ["a/1 opens", "a/2 waits", "a/3 waits"]);
    leaves.abort(new Error("not wanted"));
    assert.deepEqual(await said(), ["a/2 goes on", "a/2 leaves"]);
    open("a/4", null);
    assert.deepEqual(await said(), ["a/3 goes on", "a/3 opens", "a/4 opens"]);
  });
});

describe("a site's share of a real browser", browserGate, () => {
  it("keeps its own pages waiting, and nobody else's", async () => {
    await using site = await webSite();
    const answers: (() => void)[] = [];
    const held: Route = (_request, response) =>
      void answers.push(() => response.setHeader("content-type", "text/html").end("<p>A page that took its time.</p>"));
    for (const path of ["/1", "/2", "/3", "/other"]) site.on(path, held);
    await using browser = startBrowser({ maxPages: 2 });
    const waits = Promise.withResolvers<void>();
    const memory = (name: string, maxBytes: number | null) => ({
      memory: { site: name, maxBytes, onWait: (wait: boolean) => void (wait && waits.resolve()) },
    });
    const first = browser.fetch(site.url("/1"), memory("a", MiB));
    await site.hit("/1");
    const second = browser.fetch(site.url("/2"), memory("a", MiB));
    await waits.promise;
    // The second place is free for others, although somebody came before.
    const other = browser.fetch(site.url("/other"), memory("b", MiB));
    await site.hit("/other");
    answers.shift()!();
    assert.equal((await first).status, 200);
    await site.hit("/2");
    for (const answer of answers.splice(0)) answer();
    await Promise.all([second, other]);
    const many = ["/2", "/3"].map((path) => browser.fetch(site.url(`${path}?again`), memory("a", 100 * 1024 * MiB)));
    await Promise.all([site.hit("/2?again"), site.hit("/3?again")]);
    for (const answer of answers.splice(0)) answer();
    await Promise.all(many);
  });
});
