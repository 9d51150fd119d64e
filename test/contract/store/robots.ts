import assert from "node:assert/strict";
import type { RobotsCopy } from "../../../src/store/ports/robots-port.ts";
import { type Kit, type Scenario } from "./kit.ts";

const DAY = 24 * 3_600_000;

const copy = (kit: Kit, more: Partial<RobotsCopy> = {}): RobotsCopy => ({
  origin: "https://a.example",
  site: "a.example",
  body: Buffer.from("User-agent: *\nDisallow: /\n"),
  crawlDelayMs: null,
  fetchedAt: kit.now,
  ...more,
});

const keep = (kit: Kit, what: RobotsCopy) =>
  kit.store.keepRobots(what, { staleBefore: kit.now - DAY, uselessBefore: kit.now - 30 * DAY, mostBytes: 10_000 });

const delayOf = async (kit: Kit) => (await kit.store.site("a.example"))?.crawlDelayMs;

export function robotsScenarios(scenario: Scenario): void {
  scenario("a robots.txt is kept as it came, byte by byte, for every process", async (kit) => {
    assert.equal(await kit.store.robots("https://a.example"), null);
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0, 1, 255, 10, ...Buffer.from("Disallow: /é")]);
    await keep(kit, copy(kit, { body, crawlDelayMs: 1500 }));
    const other = await kit.open();
    const kept = await other.robots("https://a.example");
    assert.ok(kept !== null);
    assert.deepEqual({ ...kept, body: Buffer.from(kept.body) }, copy(kit, { body, crawlDelayMs: 1500 }));
    assert.equal(await other.robots("http://a.example"), null);
  });

  scenario("that there is none can be kept as well", async (kit) => {
    await keep(kit, copy(kit, { body: new Uint8Array() }));
    assert.equal((await kit.store.robots("https://a.example"))?.body.length, 0);
  });

  scenario("a new copy takes the place of the one before", async (kit) => {
    await keep(kit, copy(kit, { crawlDelayMs: 5000 }));
    await keep(kit, copy(kit, { body: Buffer.from("new"), fetchedAt: kit.now + 1 }));
    const kept = await kit.store.robots("https://a.example");
    assert.deepEqual(
      [Buffer.from(kept?.body ?? []).toString(), kept?.crawlDelayMs, kept?.fetchedAt],
      ["new", null, kit.now + 1],
    );
  });

  scenario("the delay stands on the site, the longest of its origins, and reaches the next owner", async (kit) => {
    await kit.runWith(["a"]);
    assert.equal(await delayOf(kit), null);
    await keep(kit, copy(kit, { origin: "http://a.example", crawlDelayMs: 3000 }));
    await keep(kit, copy(kit, { crawlDelayMs: 2000 }));
    await keep(kit, copy(kit, { origin: "https://b.example", site: "b.example", crawlDelayMs: 9000 }));
    assert.equal(await delayOf(kit), 3000);
    assert.equal((await kit.take("A")).site?.crawlDelayMs, 3000);
    assert.equal((await kit.takeOver("B")).site?.crawlDelayMs, 3000);
    await keep(kit, copy(kit, { origin: "http://a.example" }));
    assert.equal(await delayOf(kit), 2000);
    await keep(kit, copy(kit));
    assert.equal(await delayOf(kit), null);
  });

  scenario("what another origin of the site said more than a day ago asks for no delay any more", async (kit) => {
    await kit.runWith(["a"]);
    await keep(kit, copy(kit, { origin: "http://a.example", crawlDelayMs: 3000, fetchedAt: kit.now - DAY - 1 }));
    await keep(kit, copy(kit));
    assert.equal(await delayOf(kit), null);
    assert.notEqual(await kit.store.robots("http://a.example"), null, "as the last good copy it stays");
  });

  scenario("copies that are too old to be of use are removed", async (kit) => {
    const names = Array.from({ length: 5 }, (_, n) => `https://old-${n}.example`);
    for (const origin of names) await keep(kit, copy(kit, { origin, site: origin, fetchedAt: kit.now - 31 * DAY }));
    await keep(kit, copy(kit));
    for (const origin of names) assert.equal(await kit.store.robots(origin), null);
    assert.notEqual(await kit.store.robots("https://a.example"), null);
  });

  scenario("the oldest copies go when there are too many bytes of them, however few they are", async (kit) => {
    const names = Array.from({ length: 30 }, (_, n) => `https://long-${n}.example`);
    for (const origin of names) {
      await keep(kit, copy(kit, { origin, site: origin, body: Buffer.alloc(1000, "#") }));
      assert.notEqual(await kit.store.robots(origin), null);
    }
    const kept: string[] = [];
    for (const origin of names) if ((await kit.store.robots(origin)) !== null) kept.push(origin);
    assert.deepEqual(kept, names.slice(-10));
    // The one copy that there is of an origin is never too much.
    await keep(kit, copy(kit, { body: Buffer.alloc(50_000, "#") }));
    assert.equal((await kit.store.robots("https://a.example"))?.body.length, 50_000);
  });
}
