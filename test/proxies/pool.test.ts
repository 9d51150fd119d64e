import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLog } from "../../src/base/log.ts";
import { createSeal } from "../../src/base/seal.ts";
import type { ProxyRotation } from "../../src/domain/proxy/proxy-rotation.ts";
import { parseUpstream, type Upstream } from "../../src/domain/proxy/upstream.ts";
import { type Picked, ProxyPool } from "../../src/proxies/pool.ts";
import { toNewProxy } from "../../src/proxies/sealed-upstream.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

const SEAL = createSeal("0123456789abcdef0123456789abcdef");
const GOOD = { kind: "good", latencyMs: 100 } as const;
const FAULT = { kind: "fault", why: "nobody listens" } as const;
const BLOCKED = { kind: "blocked" } as const;

async function open(hosts: readonly string[], rotation: ProxyRotation = "round_robin") {
  const clock = new FakeClock();
  const store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
  const log: string[] = [];
  const add = (names: readonly string[], seal = SEAL, password = "secret") =>
    store.addProxies(
      names.map((name) => toNewProxy(seal, parseUpstream(`http://user:${password}@${name}:8080`) as Upstream)),
      clock.now(),
    );
  await add(hosts);
  const pool = new ProxyPool({
    store,
    clock,
    seal: SEAL,
    log: createLog({ level: "debug", pretty: false, write: (line) => void log.push(line) }),
    rotation,
  });
  const pick = async (site = "shop.example", exclude: readonly string[] = []) => {
    const picked = await pool.pick({ site, sessionKey: "run", exclude: new Set(exclude) });
    return picked;
  };
  const use = async (outcome: Parameters<ProxyPool["report"]>[1], site?: string): Promise<Picked> => {
    const picked = await pick(site);
    assert.ok(picked !== null);
    pool.report(picked, outcome);
    return picked;
  };
  const record = async (id: string) => (await store.proxy(id))!;
  return { clock, store, pool, pick, use, add, record, log, close: () => store.close() };
}

describe("the pool of a process", () => {
  test("hands out proxies with what lets one in, and shows them without", async () => {
    const fixture = await open(["one.example"]);
    const picked = await fixture.pick();
    assert.deepEqual(picked?.upstream.credentials, { username: "user", password: "secret" });
    assert.equal(picked?.shown, "http://***@one.example:8080");
    await fixture.close();
  });

  test("what was seen is on disk within a second, counted once, and at the latest when it stops", async () => {
    const fixture = await open(["one.example"]);
    const { id } = await fixture.use(GOOD);
    await fixture.use(BLOCKED);
    assert.equal((await fixture.record(id)).successes, 0);
    await fixture.clock.advance(1_000);
    const { successes, blocks, state, usedAt } = await fixture.record(id);
    assert.deepEqual([successes, blocks, state], [1, 1, "usable"]);
    assert.equal(usedAt, fixture.clock.now() - 1_000);
    assert.equal(fixture.clock.waiting, 0, "an idle pool has no timer");
    await fixture.use(GOOD);
    await fixture.pool.stop();
    assert.equal((await fixture.record(id)).successes, 2);
    assert.equal(fixture.clock.waiting, 0);
    const atSite = await fixture.store.proxySites("shop.example");
    assert.deepEqual(
      atSite.map(({ successes: good, blocks: bad }) => [good > 1.9, bad > 0.9]),
      [[true, true]],
    );
    await fixture.close();
  });

  test("one that failed rests, comes back on probation with one use at a time, and a good one frees it", async () => {
    const fixture = await open(["one.example"]);
    await fixture.use(GOOD);
    await fixture.use(FAULT);
    assert.equal(await fixture.pick(), null);
    assert.equal(await fixture.pool.hasAny(), false);
    await fixture.clock.advance(30_000);
    assert.equal(await fixture.pool.hasAny(), true);
    const trial = await fixture.pick();
    assert.ok(trial !== null);
    assert.equal(await fixture.pick(), null, "nobody else is sent to it meanwhile");
    fixture.pool.report(trial, GOOD);
    const both = [await fixture.pick(), await fixture.pick()];
    assert.ok(both.every((one) => one !== null));
    await fixture.close();
  });

  test("work that was called off says nothing about its proxy, and leaves it free", async () => {
    const fixture = await open(["one.example"]);
    const before = await fixture.pick();
    fixture.pool.report(before!, null);
    const after = await fixture.pick();
    assert.equal(after?.id, before!.id);
    await fixture.pool.stop();
    assert.equal((await fixture.record(after!.id)).state, "unchecked");
    await fixture.close();
  });

  test("what cannot be read about a site fails no page that came, and the use of its proxy is counted", async () => {
    const fixture = await open(["one.example"]);
    const picked = await fixture.pick();
    const { proxySites } = fixture.store;
    fixture.store.proxySites = async () => {
      throw new Error("the disk is tired");
    };
    fixture.pool.report({ ...picked!, site: "another.example" }, GOOD);
    // Whoever reads the proxies anew in this moment does not undo it.
    await fixture.add(["two.example"]);
    await fixture.clock.advance(1_000);
    fixture.store.proxySites = proxySites;
    await fixture.pool.stop();
    const { state, successes } = await fixture.record(picked!.id);
    assert.deepEqual([state, successes], ["usable", 1]);
    assert.equal((await fixture.store.proxySites("another.example")).length, 1);
    await fixture.close();
  });

  test("proxies that are added, switched off or removed are seen within a second", async () => {
    const fixture = await open(["one.example"]);
    const { id } = await fixture.use(GOOD);
    await fixture.add(["two.example"]);
    await fixture.clock.advance(1_000);
    await fixture.pick("other.example");
    await fixture.clock.advance(0);
    const two = await fixture.pick("shop.example", [id]);
    assert.equal(two?.upstream.hostname, "two.example");
    await fixture.store.setProxyDisabled(id, true);
    await fixture.store.deleteProxy(two!.id);
    await fixture.clock.advance(1_000);
    await fixture.pick("other.example");
    await fixture.clock.advance(0);
    assert.equal(await fixture.pick(), null);
    fixture.pool.report(two!, GOOD);
    await fixture.pool.stop();
    await fixture.close();
  });

  test("where a site turns one away others are taken, elsewhere it is not avoided, and alone it is tried again", async () => {
    const fixture = await open(["one.example", "two.example"]);
    const first = await fixture.pick();
    for (let times = 0; times < 3; times += 1) fixture.pool.report(first!, BLOCKED);
    const at = async (site: string) => {
      const seen = new Set<string>();
      for (let times = 0; times < 6; times += 1) seen.add((await fixture.use(GOOD, site)).id);
      return seen;
    };
    assert.equal((await at("shop.example")).has(first!.id), false);
    assert.equal((await at("news.example")).has(first!.id), true);
    const [other] = await at("news.example").then((seen) => [...seen].filter((id) => id !== first!.id));
    assert.equal((await fixture.pick("shop.example", [other!]))?.id, first!.id);
    // Another process knows it, too.
    await fixture.pool.stop();
    const { clock, store } = fixture;
    const log = createLog({ level: "error", pretty: false, write: () => {} });
    const later = new ProxyPool({ store, clock, seal: SEAL, log, rotation: "round_robin" });
    for (let times = 0; times < 4; times += 1) {
      const picked = await later.pick({ site: "shop.example", sessionKey: "", exclude: new Set() });
      assert.notEqual(picked!.id, first!.id);
      later.report(picked!, GOOD);
    }
    await fixture.close();
  });

  for (const rotation of ["round_robin", "least_used"] as const)
    test(`when a site answers again after an outage, nobody keeps all of its traffic (${rotation})`, async () => {
      const fixture = await open(
        Array.from({ length: 10 }, (_, n) => `p${n}.example`),
        rotation,
      );
      for (let n = 0; n < 100; n += 1) await fixture.use(GOOD);
      for (let n = 0; n < 400; n += 1) await fixture.use({ kind: "unsure", why: "the site is down" });
      const uses = new Map<string, number>();
      for (let n = 0; n < 1_000; n += 1) {
        const { id } = await fixture.use(GOOD);
        uses.set(id, (uses.get(id) ?? 0) + 1);
      }
      assert.equal(uses.size, 10);
      assert.ok(Math.max(...uses.values()) < 400, [...uses.values()].join(" "));
      await fixture.close();
    });

  test("a proxy that a site turns away gets a small part of the others' turns there, and all of them an hour later", async () => {
    const fixture = await open(["one.example", "two.example", "three.example"]);
    for (let n = 0; n < 3; n += 1) await fixture.use(GOOD, "other.example");
    const first = await fixture.pick();
    for (let n = 0; n < 10; n += 1) fixture.pool.report(first!, BLOCKED);
    const turns = async () => {
      let n = 0;
      for (let turn = 0; turn < 90; turn += 1) {
        const picked = await fixture.pick();
        if (picked!.id === first!.id) n += 1;
        fixture.pool.report(picked!, null);
      }
      return n;
    };
    const avoided = await turns();
    assert.ok(avoided > 0 && avoided < 10, String(avoided));
    await fixture.clock.advance(3_600_000);
    const forgiven = await turns();
    assert.ok(forgiven > 20, String(forgiven));
    await fixture.close();
  });

  test("a password that was brought anew is used within a second, by a proxy that begins anew with it", async () => {
    const fixture = await open(["one.example"]);
    const { id } = await fixture.use(FAULT);
    await fixture.clock.advance(1_000);
    assert.equal((await fixture.record(id)).state, "resting");
    await fixture.add(["one.example"]);
    assert.equal(await fixture.pick(), null, "the same password lets nobody in, either");
    await fixture.add(["one.example"], SEAL, "changed");
    const picked = await fixture.pick();
    assert.deepEqual(picked?.upstream.credentials, { username: "user", password: "changed" });
    await fixture.close();
  });

  test("a clock that is set back turns off no rest and makes none endless", async () => {
    const fixture = await open(["one.example"]);
    const { id } = await fixture.use(GOOD);
    const ahead = fixture.clock.now() + 86_400_000;
    await fixture.store.noteProxies([{ id, outcome: FAULT, at: ahead, site: null }], ahead);
    await fixture.clock.advance(1_000);
    await fixture.pick("other.example").then((picked) => picked !== null && fixture.pool.report(picked, null));
    await fixture.clock.advance(0);
    await fixture.use(FAULT);
    assert.equal(await fixture.pick(), null);
    await fixture.clock.advance(1_000);
    assert.ok((await fixture.record(id)).restUntil < fixture.clock.now() + 3_600_000);
    assert.equal(await fixture.pick(), null);
    await fixture.close();
  });

  test("those that were stored under another key rest as unusable ones do, say why, and are told of once without an address", async () => {
    const fixture = await open(["one.example"]);
    await fixture.add(["strange.example", "foreign.example"], createSeal("another key that is long enough to be one"));
    for (let times = 0; times < 4; times += 1) assert.equal((await fixture.use(GOOD)).upstream.hostname, "one.example");
    await fixture.clock.advance(2_000);
    const { usable, resting } = await fixture.store.countProxies();
    assert.deepEqual([usable, resting], [1, 2]);
    for (const { lastError, usedAt } of await fixture.store.proxies({ state: "resting", limit: 10 })) {
      assert.match(lastError ?? "", /cannot be decrypted with the current key/);
      assert.equal(usedAt, null);
    }
    const warnings = fixture.log.filter((line) => line.includes("proxies skipped"));
    assert.equal(warnings.length, 1);
    assert.ok(!/strange|foreign/.test(warnings[0]!));
    await fixture.close();
  });
});
