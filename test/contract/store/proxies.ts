import assert from "node:assert/strict";
import type { NewProxy, ProxyNote, ProxyRecord } from "../../../src/store/proxy-port.ts";
import { DONE, type Kit, keysOf, newTask, NOBODY, refused, refusedField, type Scenario, walk } from "./kit.ts";

const SEALED = new Uint8Array([1, 2, 3]);

const newProxy = (port: number, more: Partial<NewProxy> = {}): NewProxy => ({
  scheme: "http",
  hostname: "proxy.example",
  port,
  sealed: null,
  userHash: "",
  ...more,
});

/** One proxy for each port, in this order. */
async function add(kit: Kit, ...ports: number[]): Promise<ProxyRecord[]> {
  await kit.store.addProxies(
    ports.map((port) => newProxy(port)),
    kit.now,
  );
  const all = await kit.store.proxies({ limit: 1000 });
  return ports.map((port) => all.find((proxy) => proxy.port === port) ?? assert.fail(`no proxy at ${port}`));
}

const note = (id: string, more: Partial<ProxyNote> = {}): ProxyNote => ({
  id,
  state: "usable",
  score: 0.6,
  latencyMs: 80,
  restUntil: 0,
  restStep: 0,
  lastError: null,
  successes: 1,
  failures: 0,
  blocks: 0,
  checkedAt: null,
  usedAt: null,
  sites: [],
  ...more,
});

const ports = (list: readonly ProxyRecord[]) => list.map(({ port }) => port);
const REFRESH = { kind: "proxy_refresh", maxAttempts: 3, snapshot: {} } as const;
const chunk = (key: string) => newTask(key, { lane: "proxies", site: null, url: null, handler: "@proxy_check" });

export function proxyScenarios(scenario: Scenario): void {
  scenario("proxies are added once each; another user of the same one is another", async (kit) => {
    const user = { sealed: SEALED, userHash: "a" };
    const list = [newProxy(1), newProxy(2, user), newProxy(2, { ...user, userHash: "b" }), newProxy(1)];
    assert.deepEqual(await kit.store.addProxies(list, kit.now), { added: 3, existing: 1 });
    const version = await kit.store.proxyVersion();
    const renewed = newProxy(2, { ...user, sealed: new Uint8Array([9]) });
    assert.deepEqual(await kit.store.addProxies([renewed], kit.now), { added: 0, existing: 1 });
    assert.ok((await kit.store.proxyVersion()) !== version, "the password may be another");
    const [b, a, plain] = await kit.store.proxies({ limit: 10 });
    assert.deepEqual([b?.sealed, a?.sealed, plain?.sealed], [SEALED, new Uint8Array([9]), null]);
    assert.deepEqual(plain, {
      id: plain?.id,
      scheme: "http",
      hostname: "proxy.example",
      port: 1,
      sealed: null,
      state: "unchecked",
      score: 0.5,
      latencyMs: null,
      successes: 0,
      failures: 0,
      blocks: 0,
      restUntil: 0,
      restStep: 0,
      lastError: null,
      checkedAt: null,
      usedAt: null,
      createdAt: kit.now,
    });
    assert.deepEqual(await kit.store.proxy(plain.id), plain);
  });

  scenario("a list of proxies is read page by page, newest first, also while they go", async (kit) => {
    const all = await add(kit, 1, 2, 3, 4, 5);
    await kit.store.noteProxies([note(all[1]!.id), note(all[3]!.id)], kit.now);
    let at = 4;
    const read = await walk(
      (position) => kit.store.proxies(position),
      2,
      async () => {
        if (at === 4) await kit.store.deleteProxy(all[3]!.id);
        at = 0;
      },
    );
    assert.deepEqual(ports(read), [5, 4, 3, 2, 1], "one goes on behind what is gone");
    assert.deepEqual(ports(await kit.store.proxies({ state: "usable", limit: 10 })), [2]);
    await refusedField("after", kit.store.proxies({ after: NOBODY, limit: 10 }));
  });

  scenario("notes say how proxies have served, and are counted by state", async (kit) => {
    const [good, bad, off, never] = (await add(kit, 1, 2, 3, 4)) as [
      ProxyRecord,
      ProxyRecord,
      ProxyRecord,
      ProxyRecord,
    ];
    const version = await kit.store.proxyVersion();
    const resting = { state: "resting", restUntil: kit.now + 30_000, restStep: 1, lastError: "refused" } as const;
    await kit.store.noteProxies(
      [
        note(good.id, { score: 0.9, successes: 3, checkedAt: kit.now }),
        note(bad.id, { ...resting, score: 0.4, successes: 0, failures: 2, usedAt: kit.now }),
        note(off.id),
        note(NOBODY),
      ],
      kit.now,
    );
    const noted = await kit.store.proxyVersion();
    assert.notEqual(noted, version);
    assert.equal((await kit.store.setProxyDisabled(off.id, true)).state, "disabled");
    assert.notEqual(await kit.store.proxyVersion(), noted);
    assert.deepEqual(await kit.store.countProxies(), {
      total: 4,
      usable: 1,
      unchecked: 1,
      resting: 1,
      disabled: 1,
      usedAt: kit.now,
    });
    assert.deepEqual(ports(await kit.store.proxyPool(kit.now)), [1, 4, 2], "best first, without what is switched off");

    const quiet = await kit.store.proxyVersion();
    await kit.store.noteProxies(
      [note(good.id, { successes: 4, blocks: 1 }), note(off.id, { state: "disabled" })],
      kit.now,
    );
    assert.equal(await kit.store.proxyVersion(), quiet, "no state has changed");
    const [first, second] = [await kit.store.proxy(good.id), await kit.store.proxy(bad.id)];
    assert.deepEqual([first?.successes, first?.blocks, first?.checkedAt, first?.usedAt], [7, 1, kit.now, null]);
    assert.deepEqual([second?.state, second?.restUntil, second?.lastError], ["resting", kit.now + 30_000, "refused"]);
    assert.equal(
      (await kit.store.setProxyDisabled(off.id, false)).state,
      "usable",
      "what was known of it is known again",
    );
    assert.equal((await kit.store.proxy(never.id))?.state, "unchecked");
    await refused("not_found", kit.store.setProxyDisabled(NOBODY, true));
  });

  scenario("a use that was written after a later check changes nothing but the counts", async (kit) => {
    const [one] = (await add(kit, 1)) as [ProxyRecord];
    const used = kit.now;
    kit.pass(500);
    await kit.store.noteProxies([note(one.id, { checkedAt: kit.now })], kit.now);
    const version = await kit.store.proxyVersion();
    kit.pass(500);
    const failed = {
      state: "resting",
      restUntil: kit.now + 30_000,
      restStep: 1,
      lastError: "gone",
      failures: 2,
    } as const;
    await kit.store.noteProxies([note(one.id, { ...failed, successes: 0, usedAt: used })], kit.now);
    const known = await kit.store.proxy(one.id);
    assert.deepEqual(
      [known?.state, known?.restUntil, known?.lastError, known?.failures, known?.usedAt],
      ["usable", 0, null, 2, used],
    );
    assert.notEqual(await kit.store.proxyVersion(), version, "whoever believes otherwise reads it again");
    await kit.store.noteProxies([note(one.id, { ...failed, usedAt: kit.now })], kit.now);
    assert.equal((await kit.store.proxy(one.id))?.state, "resting", "a later use counts");
  });

  scenario("how a proxy does at a site is remembered: of the newest sites, the newest answers most", async (kit) => {
    const [one, two] = (await add(kit, 1, 2)) as [ProxyRecord, ProxyRecord];
    const at = (site: string, successes: number, blocks: number) => [{ site, successes, failures: 0, blocks }];
    await kit.store.noteProxies([note(one.id, { sites: at("a.example", 30, 10) })], kit.now);
    await kit.store.noteProxies([note(one.id, { sites: at("a.example", 0, 20) }), note(two.id)], kit.now);
    assert.deepEqual(await kit.store.proxySites("a.example"), [{ id: one.id, successes: 15, failures: 0, blocks: 25 }]);
    for (let n = 0; n < 120; n += 1) {
      kit.pass(1);
      await kit.store.noteProxies([note(one.id, { sites: at(`s${n}.example`, 1, 0) })], kit.now);
    }
    assert.deepEqual(await kit.store.proxySites("a.example"), []);
    assert.equal((await kit.store.proxySites("s119.example")).length, 1);
    await kit.store.deleteProxy(one.id);
    assert.deepEqual(await kit.store.proxySites("s119.example"), []);
    assert.equal(await kit.store.proxy(one.id), null);
    await refused("not_found", kit.store.deleteProxy(one.id));
  });

  scenario("a run that needs proxies is held from its beginning when too few are usable", async (kit) => {
    const [one] = (await add(kit, 1, 2)) as [ProxyRecord];
    const needs = { proxies: { atLeast: 2, waitMs: 5000 } };
    await kit.store.noteProxies([note(one.id)], kit.now);
    const held = await kit.page("held", needs);
    const words = "Waiting for proxies: 1 of at least 2 are usable; all of them are being checked";
    assert.deepEqual((await kit.store.run(held.id))?.hold, {
      reason: "proxies",
      since: kit.now,
      until: kit.now + 5000,
      message: words,
    });
    assert.deepEqual(await kit.words(held), ["Run created", words]);
    await kit.page("free", { proxies: { atLeast: 1, waitMs: 5000 } });
    assert.deepEqual(keysOf(await kit.claim(await kit.take("w"))), ["free"]);
  });

  scenario("one check of all proxies is at work at a time; when it has ended, another may begin", async (kit) => {
    assert.equal(await kit.store.lastRefresh(), null);
    const first = await kit.store.startRefresh(REFRESH, [chunk("0")], kit.now);
    assert.deepEqual([first.started, first.lanes], [true, ["proxies"]]);
    const again = await kit.store.startRefresh(REFRESH, [chunk("0")], kit.now);
    assert.deepEqual([again.started, again.run.id, again.lanes], [false, first.run.id, []]);
    await kit.work(await kit.take("w", "proxies"), DONE);
    assert.equal((await kit.store.lastRefresh())?.status, "completed");
    const next = await kit.store.startRefresh(REFRESH, [chunk("0")], kit.now + 1);
    assert.deepEqual([next.started, (await kit.store.lastRefresh())?.id], [true, next.run.id]);
    kit.pass(10);
    assert.equal(await kit.store.expireCrawls(kit.now, 10, kit.now), 1, "old ones go as crawls do");
    assert.equal(await kit.store.run(first.run.id), null);
    while ((await kit.store.removeExpired(100)) > 0);
  });
}
